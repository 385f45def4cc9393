import { hash, pbkdf2Sync, randomBytes } from 'node:crypto'
import { hmacSha256 } from './hash.ts'

const iterations = 4_096 // PostgreSQL's default (scram_iterations)
const saltBytes = 16 // as PostgreSQL's own verifiers have
const keyBytes = 32

/**
 * The verifier that PostgreSQL stores for a password (SCRAM-SHA-256, RFC 5803). Sent instead of the
 * password, it keeps the password out of the server's log and of what the server sees.
 */
export function scramVerifier(password: string, salt: Uint8Array = randomBytes(saltBytes)): string {
  const salted = pbkdf2Sync(normalize(password), salt, iterations, keyBytes, 'sha256')
  const storedKey = hash('sha256', hmacSha256(salted, 'Client Key'), 'base64')
  const serverKey = hmacSha256(salted, 'Server Key').toString('base64')
  const encodedSalt = Buffer.from(salt).toString('base64')
  return `SCRAM-SHA-256$${iterations}:${encodedSalt}$${storedKey}:${serverKey}`
}

// RFC 3454, tables C.1.2 and B.1.
const spaces = /[\u00A0\u1680\u2000-\u200B\u202F\u205F\u3000]/gu
const invisible =
  /\u00AD|\u034F|\u1806|[\u180B-\u180D]|\u200C|\u200D|\u2060|[\uFE00-\uFE0F]|\uFEFF/gu

/** SASLprep (RFC 4013), as far as PostgreSQL's clients apply it before they prove a password. */
function normalize(password: string): string {
  return password.replaceAll(spaces, ' ').replaceAll(invisible, '').normalize('NFKC')
}
