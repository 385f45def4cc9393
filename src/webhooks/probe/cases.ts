import { randomToken } from '#src/crypto/hash.ts'
import type { SendRequest } from '#src/webhooks/client/sender.ts'
import {
  newEndpointSecret,
  type SignatureProfile,
  signDelivery,
} from '#src/webhooks/signing/signature.ts'

/** What a correct receiver does: respond with a 2xx status, or with any other. */
export type Expectation = 'accept' | 'refuse'

/** Every request of a probe, by name, in the order of the report. */
export const probeCases = {
  correct: { expected: 'accept', title: 'A correct delivery' },
  'malformed-signature': { expected: 'refuse', title: 'A signature that is not base64' },
  'missing-signature': { expected: 'refuse', title: 'No signature' },
  'foreign-signature': { expected: 'refuse', title: 'A signature with another secret' },
  'changed-byte': { expected: 'refuse', title: 'One byte of the body changed after signing' },
  'too-old': { expected: 'refuse', title: 'Signed more than 300 seconds ago' },
  'too-new': { expected: 'refuse', title: 'Signed more than 300 seconds in the future' },
  repeated: { expected: 'accept', title: 'The same delivery again' },
  rotation: { expected: 'accept', title: 'Two signatures, as while a secret is rotated' },
  'unknown-version': { expected: 'accept', title: 'A signature of a later version besides ours' },
  'unusual-bytes': { expected: 'accept', title: 'JSON with unusual spaces, escapes and numbers' },
  'slow-connection': { expected: 'accept', title: 'A body that arrives in two parts' },
} as const satisfies Record<string, { expected: Expectation; title: string }>

export type CaseName = keyof typeof probeCases

export type ProbeTarget = { id: string; tenantId: string; url: string; secret: string }

// A receiver that allows 300 s must refuse both. The time that a request takes makes the first one
// older, but the second one younger.
const tooOldSeconds = 301
const tooNewSeconds = 315
const slowPauseMs = 500

/**
 * Makes the requests of one probe. They are inert: `endpoint.test` with data that names the case.
 * @param nowSeconds Unix time
 */
export function createRequests(
  { id: endpointId, tenantId, url, secret }: ProbeTarget,
  profile: SignatureProfile,
  nowSeconds: number,
): Readonly<Record<CaseName, SendRequest>> {
  const repeatedId = newId()

  function sign(body: string, id: string, timestamp: number, by = secret): string {
    return signDelivery({ profile, secrets: [by], id, timestamp, body })
  }

  function compose(name: CaseName, id: string): string {
    const createdAt = new Date(nowSeconds * 1_000).toISOString()
    const data = { endpointId, probe: name }
    return JSON.stringify({ id, type: 'endpoint.test', createdAt, data })
  }

  /** A correct request, or one with another id, body, time or signature. */
  function request(name: CaseName, change: Change = {}): SendRequest {
    const { id = newId(), timestamp = nowSeconds } = change
    const body = change.body?.(id) ?? compose(name, id)
    const correct = sign(body, id, timestamp)
    const signature = change.signature === undefined ? correct : change.signature(correct, body, id)
    return {
      tenantId,
      url,
      headers: {
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        ...(signature !== null && { 'webhook-signature': signature }),
      },
      body: change.sent?.(body) ?? body,
      ...(change.pauseMs !== undefined && { pauseMs: change.pauseMs }),
    }
  }

  const byAnother = (body: string, id: string) => sign(body, id, nowSeconds, newEndpointSecret())
  return {
    correct: request('correct', { id: repeatedId }),
    'malformed-signature': request('malformed-signature', {
      signature: () => 'v1,not:base64!',
    }),
    'missing-signature': request('missing-signature', { signature: () => null }),
    'foreign-signature': request('foreign-signature', {
      signature: (_correct, body, id) => byAnother(body, id),
    }),
    'changed-byte': request('changed-byte', { sent: (body) => body.replace(/e"}}$/, 'E"}}') }),
    'too-old': request('too-old', { timestamp: nowSeconds - tooOldSeconds }),
    'too-new': request('too-new', { timestamp: nowSeconds + tooNewSeconds }),
    repeated: request('correct', { id: repeatedId }),
    rotation: request('rotation', {
      signature: (correct, body, id) => `${byAnother(body, id)} ${correct}`,
    }),
    'unknown-version': request('unknown-version', {
      signature: (correct) => `v9,${randomToken()} ${correct}`,
    }),
    'unusual-bytes': request('unusual-bytes', {
      body: (id) => unusual(id, endpointId, nowSeconds),
    }),
    'slow-connection': request('slow-connection', { pauseMs: slowPauseMs }),
  }
}

type Change = {
  id?: string
  timestamp?: number
  /** The body that is signed. */
  body?: (id: string) => string
  /** The body that is sent. */
  sent?: (body: string) => string
  signature?: (correct: string, body: string, id: string) => string | null
  pauseMs?: number
}

function newId(): string {
  return `msg_${randomToken()}`
}

/** Valid JSON that no serializer writes like this, so that only its own bytes have this signature. */
function unusual(id: string, endpointId: string, nowSeconds: number): string {
  const createdAt = new Date(nowSeconds * 1_000).toISOString()
  return `{ "id" : "${id}",\n\t"type":"endpoint.test", "createdAt": "${createdAt}",
  "data":{"endpointId":"${endpointId}","probe":"unusual-bytes","number":1.50,"large":1E2,
  "escaped":"\\u00e9\\/","text":"é 漢字 😀\u2028","empty":{ }}}\r\n`
}
