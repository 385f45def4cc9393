import { createHmac, timingSafeEqual } from 'node:crypto'

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
