import { equalBytes } from '#src/crypto/hash.ts'
import { type SignatureProfile, signDelivery } from './signature.ts'

/** Specification, Limits: what a receiver accepts, in either direction. */
const toleranceSeconds = 300

const signedHeaders = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const
const fieldName = /^[\w-]+$/
const unixSeconds = /^\d{1,15}$/
const hexDigest = /^[\da-f]{64}$/i
const base64Digest = /^[A-Za-z0-9+/]{43}=$/
const urlDigest = /^[A-Za-z0-9_-]{43}=?$/

/** A request as a receiver has got it, and what it was compared with. */
export type Received = {
  /** Lines of `name: value`; others are ignored. */
  headers: string
  body: string
  /** The secret that the receiver uses; null for those of the endpoint. */
  secret: string | null
}

/** The request as it was sent. */
export type Sent = {
  id: string
  body: string
  profile: SignatureProfile
  /** The secrets of the endpoint, the current one first. */
  secrets: readonly string[]
}

export type SignatureFault =
  | 'header-missing'
  | 'wrong-encoding'
  | 'timestamp-malformed'
  | 'too-old'
  | 'too-new'
  | 'wrong-secret'
  | 'body-changed'
  | 'id-changed'
  | 'wrong-profile'
  | 'not-ours'

/** What is wrong with a received request, in words, and every reason by its code. Empty: nothing. */
export type SignatureCheck = readonly { fault: SignatureFault; text: string }[]

/**
 * Explains whether a receiver would accept a request, and if not, exactly why. It tries the secret and
 * the body of the receiver against those of the delivery, so that it can tell which of them differs.
 * @param now Unix seconds
 */
export function checkSignature(received: Received, sent: Sent, now: number): SignatureCheck {
  const headers = readHeaders(received.headers)
  const missing = signedHeaders.filter((name) => !headers.get(name))
  if (missing.length > 0) {
    const text = `${listOf(missing)} ${missing.length === 1 ? 'is' : 'are'} missing. Does a proxy or a framework drop or rename headers?`
    return [{ fault: 'header-missing', text }]
  }
  const [id = '', timestamp = '', signature = ''] = signedHeaders.map((name) => headers.get(name))
  if (!unixSeconds.test(timestamp)) {
    const text = '`webhook-timestamp` is not a number of seconds since 1970.'
    return [{ fault: 'timestamp-malformed', text }]
  }
  const encoding = encodingFault(signature)
  if (encoding !== null) return [{ fault: 'wrong-encoding', text: encoding }]
  return [
    ...mismatch({ id, timestamp: Number(timestamp), signature }, received, sent),
    ...timeFault(Number(timestamp), now),
  ]
}

function readHeaders(text: string): ReadonlyMap<string, string> {
  const lines = text.split(/\r?\n/).flatMap((line) => {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(colon, 0)).trim()
    return fieldName.test(name) ? [[name.toLowerCase(), line.slice(colon + 1).trim()] as const] : []
  })
  return new Map(lines)
}

/** Why no part of the header is `v1,` and base64 of 32 bytes; null if one is. */
function encodingFault(signature: string): string | null {
  const parts = signature.split(/\s+/)
  const values = parts.map((part) => part.replace(/^v1[,=]/, ''))
  if (parts.some((part) => /^v1,/.test(part) && base64Digest.test(part.slice(3)))) return null
  if (values.some((value) => hexDigest.test(value))) {
    return 'The signature is written in hexadecimal. It must be base64: compare `v1,` and the base64 text of the HMAC.'
  }
  if (values.some((value) => base64Digest.test(value))) {
    return 'The signature must begin with `v1,`, followed by base64.'
  }
  if (values.some((value) => urlDigest.test(value))) {
    return 'The signature is written in base64url, without `+`, `/` or `=`. It must be plain base64.'
  }
  return '`webhook-signature` has no part that is `v1,` and base64 of 32 bytes. Was it cut off?'
}

type Signed = { id: string; timestamp: number; signature: string }

function mismatch(signed: Signed, { body, secret }: Received, sent: Sent): SignatureCheck {
  const own = sent.secrets
  const used = secret === null ? own : [secret]
  const matches = (
    secrets: readonly string[],
    text: string,
    profile = sent.profile,
    id = signed.id,
  ) => isSignedBy({ ...signed, id }, { profile, secrets, body: text })
  if (matches(used, body)) return []
  const secretFault = { fault: 'wrong-secret', text: secretText(secret, own) } as const
  const bodyFault = { fault: 'body-changed', text: bodyText(body, sent.body) } as const
  if (matches(used, sent.body)) return [bodyFault]
  if (matches(own, body)) return [secretFault]
  if (matches(own, sent.body)) return [secretFault, bodyFault]
  for (const profile of ['spec', 'standard'] as const) {
    if (
      profile === sent.profile ||
      !(matches(used, body, profile) || matches(own, body, profile))
    ) {
      continue
    }
    const text = `The signature is that of the profile \`${profile}\`, but the endpoint signs with \`${sent.profile}\`. Was the profile changed after this request?`
    return [{ fault: 'wrong-profile', text }]
  }
  if (signed.id !== sent.id && matches(own, sent.body, sent.profile, sent.id)) {
    return [{ fault: 'id-changed', text: '`webhook-id` is not the id that was signed.' }]
  }
  const text =
    signed.id === sent.id
      ? 'No secret of this endpoint has made this signature. Was the secret rotated since, or was `webhook-signature` or `webhook-timestamp` changed or taken from another request?'
      : 'These headers belong to another delivery: `webhook-id` differs.'
  return [{ fault: 'not-ours', text }]
}

function isSignedBy(
  { id, timestamp, signature }: Signed,
  by: { profile: SignatureProfile; secrets: readonly string[]; body: string },
): boolean {
  const expected = signDelivery({ ...by, id, timestamp }).split(' ')
  const given = signature.split(/\s+/)
  return expected.some((one) =>
    given.some((other) => equalBytes(Buffer.from(one), Buffer.from(other))),
  )
}

function secretText(secret: string | null, own: readonly string[]): string {
  if (secret === null) return 'It was not signed with a secret of this endpoint.'
  if (own.some((one) => one.trim() === secret.trim())) {
    return 'The secret has spaces or a line break around it.'
  }
  if (own.some((one) => one === `whsec_${secret}`)) {
    return 'The secret lacks its beginning `whsec_`, which is part of the key.'
  }
  return 'The secret is not the one of this endpoint. Is it that of another endpoint, or from before a rotation?'
}

function bodyText(body: string, sentBody: string): string {
  const advice = 'Verify the bytes as received, before anything parses them.'
  if (body === '') return `The body is empty. ${advice}`
  if (body.trim() === sentBody) return `The body has a line break or spaces around it. ${advice}`
  if (isSameJson(body, sentBody)) {
    return `The body has the same content, but was parsed and written again. ${advice}`
  }
  let at = 0
  while (at < body.length && body[at] === sentBody[at]) at += 1
  return `The body differs from what was sent, first at character ${at + 1}. ${advice}`
}

function isSameJson(one: string, other: string): boolean {
  try {
    return sortedJson(JSON.parse(one)) === sortedJson(JSON.parse(other))
  } catch {
    return false
  }
}

function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, part) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}

function timeFault(timestamp: number, now: number): SignatureCheck {
  const age = now - timestamp
  if (Math.abs(age) <= toleranceSeconds) return []
  const seconds = Math.abs(age).toLocaleString('en-GB')
  return age > 0
    ? [
        {
          fault: 'too-old',
          text: `The timestamp is ${seconds} s old. A receiver refuses more than ${toleranceSeconds} s: use a new delivery, or check the clock of the receiver.`,
        },
      ]
    : [
        {
          fault: 'too-new',
          text: `The timestamp is ${seconds} s in the future. A receiver refuses more than ${toleranceSeconds} s: check the clock of the receiver.`,
        },
      ]
}

function listOf(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(' and ')
}
