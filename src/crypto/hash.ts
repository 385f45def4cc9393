import { createHash, createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'

/** SHA-256, for instance of a secret handle, so that a leaked table opens no door. 32 bytes. */
export function sha256(content: string | Uint8Array): Buffer {
  return createHash('sha256').update(content).digest()
}

/** 32 random bytes as 43 base64url characters. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url')
}

/** 32 random bytes for a key. */
export function randomKey(): Buffer {
  return randomBytes(32)
}

/** A random UUID for ids that are made before their row. */
export function randomId(): string {
  return randomUUID()
}

/** HMAC-SHA256 over the concatenation of `parts`; a secret that is text is taken as UTF-8. 32 bytes. */
export function hmacSha256(
  secret: string | Uint8Array,
  ...parts: readonly (string | Uint8Array)[]
): Buffer {
  const hmac = createHmac('sha256', secret)
  for (const part of parts) hmac.update(part)
  return hmac.digest()
}

/** Compares in constant time; different lengths are simply not equal. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
