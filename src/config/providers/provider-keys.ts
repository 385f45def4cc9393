import { type AssertionKey, readAssertionKey, readPemKey } from '#src/crypto/jwk.ts'
import { parseJsonObject } from '#src/runtime/json.ts'
import { readTextFile } from '#src/runtime/text-file.ts'
import { described } from '../parse.ts'
import { ProviderSettings } from '../settings.ts'

/** Reads the JWK from the value or from the file it names. Faults repeat neither: both may be a key. */
export function readClientKey(
  name: string,
  value: string | undefined,
  faults: string[],
): AssertionKey | null {
  const text = readKeyText(name, value, '{', 'a JWK as JSON', faults)
  if (text === null) return null
  const jwk = parseJsonObject(text)
  const key = jwk === null ? 'is not a JWK as JSON' : readAssertionKey(jwk)
  if (typeof key !== 'string') return key
  faults.push(`${name}: ${key}.`)
  return null
}

/** Reads the key that signs client secrets: a P-256 key in PEM, as Apple's .p8 files are. */
export function readSigningKey(
  name: string,
  value: string | undefined,
  keyId: string,
  faults: string[],
): AssertionKey | null {
  const text = readKeyText(name, value, '-----BEGIN', 'a private key in PEM', faults)
  if (text === null) return null
  const key = readPemKey(text, keyId)
  if (typeof key !== 'string') return key
  faults.push(`${name}: ${key}.`)
  return null
}

function readKeyText(
  name: string,
  value: string | undefined,
  start: string,
  what: string,
  faults: string[],
): string | null {
  if (value === undefined) {
    faults.push(`${name}: is missing. ${described(ProviderSettings, 'PRIVATE_KEY')}`)
    return null
  }
  if (value.startsWith(start)) return value
  const text = readText(value)
  if (text === null) faults.push(`${name}: must be ${what} or the path of a readable file.`)
  return text
}

function readText(path: string): string | null {
  try {
    return readTextFile(path)
  } catch {
    return null
  }
}
