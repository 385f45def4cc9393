import { equalBytes, hmacSha256 } from '#src/crypto/hash.ts'

/** Specification, Limits: the largest difference that is accepted, in either direction. */
const toleranceSeconds = 300

const maxSignatures = 8
const unixSeconds = /^\d{1,15}$/
const blank = /\s/
const hexDigest = /^[0-9a-fA-F]{64}$/

export type Verdict =
  | { ok: true; timestamp: number; secretIndex: number }
  | { ok: false; fault: 'bad signature' | 'timestamp outside tolerance' }

type Header = { timestamp: string; signatures: Buffer[] }

/**
 * Verifies an inbound webhook: first the signature over the bytes as received, then the time.
 * @param header the `webhook-signature` header; several headers, joined by HTTP, are refused
 * @param secrets the configured secrets; all are tried, even after a match
 * @param now Unix seconds
 */
export function verifySignature(
  header: string,
  body: Uint8Array,
  secrets: readonly string[],
  now: number,
): Verdict {
  const parsed = parseHeader(header)
  if (parsed === null) return { ok: false, fault: 'bad signature' }
  let secretIndex = -1
  for (const [index, secret] of secrets.entries()) {
    const digest = hmacSha256(secret, `${parsed.timestamp}.`, body)
    for (const signature of parsed.signatures) {
      if (equalBytes(digest, signature) && secretIndex === -1) secretIndex = index
    }
  }
  if (secretIndex === -1) return { ok: false, fault: 'bad signature' }
  const timestamp = Number(parsed.timestamp)
  if (Math.abs(now - timestamp) > toleranceSeconds) {
    return { ok: false, fault: 'timestamp outside tolerance' }
  }
  return { ok: true, timestamp, secretIndex }
}

/**
 * `t=<unix seconds>,v1=<64 hex digits>`: one `t`, one to eight `v1`, other keys ignored. White
 * space is refused, because HTTP joins repeated headers with it. The timestamp stays as sent,
 * because it is part of the signed content.
 */
function parseHeader(header: string): Header | null {
  if (blank.test(header)) return null
  const timestamps: string[] = []
  const signatures: Buffer[] = []
  for (const part of header.split(',')) {
    const separator = part.indexOf('=')
    if (separator === -1) return null
    const key = part.slice(0, separator)
    const value = part.slice(separator + 1)
    if (key === 't') {
      if (!unixSeconds.test(value)) return null
      timestamps.push(value)
    } else if (key === 'v1') {
      if (!hexDigest.test(value)) return null
      signatures.push(Buffer.from(value, 'hex'))
    }
  }
  const [timestamp] = timestamps
  if (timestamp === undefined || timestamps.length > 1) return null
  if (signatures.length < 1 || signatures.length > maxSignatures) return null
  return { timestamp, signatures }
}

/** The header that a sender adds to `body` at `timestamp`. Used by the demo's `curl` and by tests. */
export function signatureHeader(secret: string, body: string, timestamp: number): string {
  return `t=${timestamp},v1=${hmacSha256(secret, `${timestamp}.${body}`).toString('hex')}`
}
