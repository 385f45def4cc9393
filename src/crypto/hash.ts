import {
  createHmac,
  hash,
  randomBytes,
  randomUUID,
  randomUUIDv7,
  timingSafeEqual,
} from 'node:crypto'

/** SHA-256, 32 bytes. Secret ids are stored as hashes, so that a leaked table cannot be used. */
export function sha256(content: string | Uint8Array): Buffer {
  return hash('sha256', content, 'buffer')
}

/** 32 random bytes as 43 base64url characters. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url')
}

/** A random key of 32 bytes. */
export function randomKey(): Buffer {
  return randomBytes(32)
}

/** A random UUID, for ids that are needed before their row is inserted. */
export function randomId(): string {
  return randomUUID()
}

/** A UUID that sorts by the time it was made, to the millisecond (RFC 9562, version 7). */
export function orderedId(): string {
  return randomUUIDv7()
}

/** HMAC-SHA256 over the concatenation of `parts`, 32 bytes. Strings are encoded as UTF-8. */
export function hmacSha256(
  secret: string | Uint8Array,
  ...parts: readonly (string | Uint8Array)[]
): Buffer {
  const hmac = createHmac('sha256', secret)
  for (const part of parts) hmac.update(part)
  return hmac.digest()
}

/** Compares in constant time. False for different lengths. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
