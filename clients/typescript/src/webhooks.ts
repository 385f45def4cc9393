import type { components } from './generated/api.ts'

/** Any event that is sent, told apart by its `type`. */
export type WebhookEvent = components['schemas']['Event']

/** Why a delivery was refused. */
export type WebhookFault = 'missing-header' | 'timestamp' | 'signature' | 'body'

/** The delivery is not authentic, not recent, or no event. Respond with 400. */
export class WebhookError extends Error {
  readonly fault: WebhookFault

  constructor(fault: WebhookFault) {
    super(messages[fault])
    this.name = 'WebhookError'
    this.fault = fault
  }
}

const messages: Readonly<Record<WebhookFault, string>> = {
  'missing-header': 'The delivery has no webhook-id, webhook-timestamp or webhook-signature.',
  timestamp: 'The delivery was signed too long ago, or in the future.',
  signature: 'No signature of the delivery is valid.',
  body: 'The body of the delivery is no event.',
}

export type Delivery = {
  /** The body as it arrived, before any parsing. */
  body: string | Uint8Array
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
  /** The secret of the endpoint, `whsec_…`, or several that are accepted. */
  secret: string | readonly string[]
  /** How far the time of the signature may be from ours; 300 by default. */
  toleranceSeconds?: number
  /** Unix time; the present by default. */
  nowSeconds?: number
}

/**
 * Checks the signature of a delivery, in any of the profiles of an endpoint, and parses its event.
 * The same event can arrive more than once: process each `id` once.
 * @throws WebhookError
 */
export async function verifyWebhook({
  body,
  headers,
  secret,
  toleranceSeconds = 300,
  nowSeconds = Date.now() / 1_000,
}: Delivery): Promise<WebhookEvent> {
  const id = headerOf(headers, 'webhook-id')
  const timestamp = headerOf(headers, 'webhook-timestamp')
  const signature = headerOf(headers, 'webhook-signature')
  if (id === null || timestamp === null || signature === null) {
    throw new WebhookError('missing-header')
  }
  const isTime = /^[0-9]{1,12}$/.test(timestamp)
  if (!isTime || Math.abs(nowSeconds - Number(timestamp)) > toleranceSeconds) {
    throw new WebhookError('timestamp')
  }
  const bytes = typeof body === 'string' ? utf8(body) : body
  const isSigned = await hasSignature(signature, [secret].flat(), { id, timestamp, bytes })
  if (!isSigned) throw new WebhookError('signature')
  return parseEvent(bytes, id)
}

type Signed = { id: string; timestamp: string; bytes: Uint8Array }

const maxSignatures = 16

async function hasSignature(
  header: string,
  secrets: readonly string[],
  { id, timestamp, bytes }: Signed,
): Promise<boolean> {
  const signatures = header
    .split(' ')
    .slice(0, maxSignatures)
    .flatMap((one) => (one.startsWith('v1,') ? [base64Bytes(one.slice('v1,'.length))] : []))
    .filter((one) => one !== null)
  for (const secret of secrets) {
    const specification = { key: utf8(secret), text: join(`${timestamp}.`, bytes) }
    const decoded = base64Bytes(secret.replace(/^whsec_/, ''))
    const standard = decoded && { key: decoded, text: join(`${id}.${timestamp}.`, bytes) }
    for (const profile of [specification, standard]) {
      if (profile === null || profile.key.length === 0) continue
      if (await isSignedBy(profile.key, signatures, profile.text)) return true
    }
  }
  return false
}

/** The comparison of `verify` takes the same time for every signature. */
async function isSignedBy(
  key: Uint8Array<ArrayBuffer>,
  signatures: readonly Uint8Array<ArrayBuffer>[],
  text: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const hmac = { name: 'HMAC', hash: 'SHA-256' }
  const imported = await crypto.subtle.importKey('raw', key, hmac, false, ['verify'])
  const verdicts = await Promise.all(
    signatures.map((signature) => crypto.subtle.verify('HMAC', imported, signature, text)),
  )
  return verdicts.includes(true)
}

function parseEvent(bytes: Uint8Array, id: string): WebhookEvent {
  const event = parseJson(bytes)
  if (!isEvent(event) || event.id !== id) throw new WebhookError('body')
  return event
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new WebhookError('body')
  }
}

/** The signature vouches for the rest. */
function isEvent(value: unknown): value is WebhookEvent {
  return typeof value === 'object' && value !== null && 'id' in value && 'type' in value
}

/** Null if the header is missing or there is more than one of it. */
function headerOf(headers: Delivery['headers'], name: string): string | null {
  const value = headers instanceof Headers ? headers.get(name) : headers[name]
  return typeof value === 'string' ? value : null
}

function join(head: string, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const start = utf8(head)
  const whole = new Uint8Array(start.length + tail.length)
  whole.set(start)
  whole.set(tail, start.length)
  return whole
}

function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new TextEncoder().encode(text))
}

/** Null for a text that is not base64. */
function base64Bytes(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return null
  }
}
