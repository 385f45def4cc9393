import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** What the tokens of a person, of a service and of the app begin with. */
const prefixes = { token: 'gth_', service: 'gths_', app: 'gtha_' } as const

export type TokenKind = keyof typeof prefixes

const secretBytes = 32
const secretLength = 43 // 62^43 > 2^256
const checksumLength = 6 // 62^6 > 2^32
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const form = /^(gth[as]?_)([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/

/**
 * A new token: `gth_` for an API token of a person, `gths_` for a service token, `gtha_` for an app
 * token; then 32 random bytes and a CRC-32, both in base62. Prefix and checksum let people and secret scanners recognize a token
 * without a request to the server.
 */
export function randomApiToken(kind: TokenKind = 'token'): string {
  const secret = base62(BigInt(`0x${randomBytes(secretBytes).toString('hex')}`), secretLength)
  return `${prefixes[kind]}${secret}${checksumOf(secret)}`
}

const lastLength = 4

/** The last four characters of a token, which are stored beside its hash: they are part of the checksum. */
export function lastFourOf(token: string): string {
  return token.slice(-lastLength)
}

/** What people recognize a token by in a list: `gth_…x9Ks`. */
export function hintOf(kind: TokenKind, lastFour: string): string {
  return `${prefixes[kind]}…${lastFour}`
}

/** Whose token the text may be, by its form and checksum; null if it is none. It may still be invalid. */
export function tokenKindOf(text: string): TokenKind | null {
  const [, prefix, secret = '', checksum] = form.exec(text) ?? []
  if (prefix === undefined || checksum !== checksumOf(secret)) return null
  const kinds: readonly TokenKind[] = ['service', 'app']
  return kinds.find((kind) => prefixes[kind] === prefix) ?? 'token'
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
