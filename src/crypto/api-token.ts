import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const prefix = 'gth_'
const secretBytes = 32
const secretLength = 43 // 62^43 > 2^256
const checksumLength = 6 // 62^6 > 2^32
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const form = /^gth_[0-9A-Za-z]{49}$/

/**
 * A new API token: `gth_`, 32 random bytes and a CRC-32, the last two in base62. Prefix and
 * checksum let people and secret scanners recognize a token without a request to the server.
 */
export function randomApiToken(): string {
  const secret = base62(BigInt(`0x${randomBytes(secretBytes).toString('hex')}`), secretLength)
  return `${prefix}${secret}${checksumOf(secret)}`
}

/** True if the text has the form and checksum of a token; the token may still be invalid. */
export function hasTokenForm(text: string): boolean {
  if (!form.test(text)) return false
  const secret = text.slice(prefix.length, prefix.length + secretLength)
  return text.slice(prefix.length + secretLength) === checksumOf(secret)
}

function checksumOf(secret: string): string {
  return base62(BigInt(crc32(secret)), checksumLength)
}

function base62(value: bigint, length: number): string {
  let rest = value
  let text = ''
  while (rest > 0n) {
    text = alphabet.charAt(Number(rest % 62n)) + text
    rest /= 62n
  }
  return text.padStart(length, '0')
}
