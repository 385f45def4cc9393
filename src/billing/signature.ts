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

/** Signatures of a request and the time that they cover. The time stays as sent: it is signed. */
export type Signed = { timestamp: string; signatures: readonly Buffer[] }

/** How a provider writes the time and the signatures into one header. */
export type HeaderForm = {
  separator: ',' | ';'
  timeKey: string
  signatureKey: string
}

/** `t=<unix seconds>,v1=<64 hex digits>` (specification, Signature verification rules). */
export const timedForm: HeaderForm = { separator: ',', timeKey: 't', signatureKey: 'v1' }

/**
 * Verifies an inbound webhook: first the signature, then the time.
 * @param signed what the headers say; null if they cannot be read
 * @param digests the digest of the signed content with each configured secret; all are tried, even
 *   after a match
 * @param now Unix seconds
 */
export function judge(
  signed: Signed | null,
  digests: (timestamp: string) => readonly Buffer[],
  now: number,
): Verdict {
  if (signed === null) return { ok: false, fault: 'bad signature' }
  let secretIndex = -1
  for (const [index, digest] of digests(signed.timestamp).entries()) {
    for (const signature of signed.signatures) {
      if (equalBytes(digest, signature) && secretIndex === -1) secretIndex = index
    }
  }
  if (secretIndex === -1) return { ok: false, fault: 'bad signature' }
  const timestamp = Number(signed.timestamp)
  if (Math.abs(now - timestamp) > toleranceSeconds) {
    return { ok: false, fault: 'timestamp outside tolerance' }
  }
  return { ok: true, timestamp, secretIndex }
}

/**
 * Verifies `t=…,v1=…` over `<t>.<body>`, the key being the secret as UTF-8.
 * @param header several headers, joined by HTTP, are refused
 */
export function verifySignature(
  header: string,
  body: Uint8Array,
  secrets: readonly string[],
  now: number,
): Verdict {
  return judge(
    readHeader(header, timedForm),
    (timestamp) => secrets.map((secret) => hmacSha256(secret, `${timestamp}.`, body)),
    now,
  )
}

/**
 * Reads a header of one time and one to eight signatures of 64 hex digits; other keys are ignored.
 * White space is refused, because HTTP joins repeated headers with it.
 */
export function readHeader(
  header: string,
  { separator: between, timeKey, signatureKey }: HeaderForm,
): Signed | null {
  if (blank.test(header)) return null
  const timestamps: string[] = []
  const signatures: Buffer[] = []
  for (const part of header.split(between)) {
    const separator = part.indexOf('=')
    if (separator === -1) return null
    const key = part.slice(0, separator)
    const value = part.slice(separator + 1)
    if (key === timeKey) {
      if (!isUnixSeconds(value)) return null
      timestamps.push(value)
    } else if (key === signatureKey) {
      if (!hexDigest.test(value)) return null
      signatures.push(Buffer.from(value, 'hex'))
    }
  }
  const [timestamp] = timestamps
  if (timestamp === undefined || timestamps.length > 1) return null
  return isAcceptedNumber(signatures.length) ? { timestamp, signatures } : null
}

export function isUnixSeconds(text: string): boolean {
  return unixSeconds.test(text)
}

/** At least one signature, and not so many that comparing them is work. */
export function isAcceptedNumber(signatures: number): boolean {
  return signatures >= 1 && signatures <= maxSignatures
}

/** The header that a sender adds to `body` at `timestamp`. Used by the demo's `curl` and by tests. */
export function signatureHeader(secret: string, body: string, timestamp: number): string {
  return `t=${timestamp},v1=${hmacSha256(secret, `${timestamp}.${body}`).toString('hex')}`
}
