import { described, list } from '#src/config/parse.ts'
import { Settings } from '#src/config/settings.ts'
import type { EncryptionKey, EncryptionKeys } from '#src/crypto/encryption.ts'

const secretBytes = 32 // AES-256
const standIn: EncryptionKeys = [{ id: 'none', secret: new Uint8Array(secretBytes) }]

/**
 * Reads `keyId:base64(32 bytes)`, comma-separated; the first encrypts, all decrypt.
 * What is wrong is added to `faults`, which repeat neither keys nor ids.
 */
export function readEncryptionKeys(value: string | undefined, faults: string[]): EncryptionKeys {
  const name = 'ENCRYPTION_KEYS'
  if (value === undefined || value === '') {
    faults.push(`${name}: is missing. ${described(Settings, name)}`)
    return standIn
  }
  const keys = list(value).map(readKey)
  const good = keys.filter((key) => key !== null)
  if (good.length < keys.length) {
    faults.push(
      `${name}: every key must be keyId:base64 of 32 bytes (openssl rand -base64 32); an id has 1 to 32 of A-Z a-z 0-9 . _ -`,
    )
  }
  if (new Set(good.map(({ id }) => id)).size < good.length) {
    faults.push(`${name}: two keys have the same id.`)
  }
  const [first, ...rest] = good
  if (first === undefined && keys.length === 0) faults.push(`${name}: must name at least one key.`)
  return first === undefined ? standIn : [first, ...rest]
}

function readKey(text: string): EncryptionKey | null {
  const [, id, encoded] = /^([A-Za-z0-9._-]{1,32}):([A-Za-z0-9+/_-]{43}=?)$/.exec(text) ?? []
  if (id === undefined || encoded === undefined) return null
  const secret = Buffer.from(encoded, 'base64')
  return secret.length === secretBytes ? { id, secret } : null
}
