import { createHash, randomBytes, randomUUID } from 'node:crypto'

/** SHA-256 of a secret handle, so that a leaked table opens no door. 32 bytes. */
export function sha256(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest()
}

/** 32 random bytes as 43 base64url characters. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url')
}

/** A random UUID for ids that are made before their row. */
export function randomId(): string {
  return randomUUID()
}
