import { createPrivateKey, type KeyObject } from 'node:crypto'

/** A private key that signs client assertions. It cannot be exported. */
export type AssertionKey = { key: CryptoKey; kid: string; alg: string }

const minimumRsaBits = 2048

const algorithms: Readonly<Record<string, { kty: string; crv?: string; key: KeyAlgorithm }>> = {
  RS256: rsa('RSASSA-PKCS1-v1_5', 256),
  RS384: rsa('RSASSA-PKCS1-v1_5', 384),
  RS512: rsa('RSASSA-PKCS1-v1_5', 512),
  PS256: rsa('RSA-PSS', 256),
  PS384: rsa('RSA-PSS', 384),
  PS512: rsa('RSA-PSS', 512),
  ES256: curve('P-256'),
  ES384: curve('P-384'),
  ES512: curve('P-521'),
  EdDSA: { kty: 'OKP', crv: 'Ed25519', key: { name: 'Ed25519' } },
  Ed25519: { kty: 'OKP', crv: 'Ed25519', key: { name: 'Ed25519' } },
}

type Jwk = Readonly<Record<string, unknown>>
type KeyAlgorithm = { name: string; hash?: string; namedCurve?: string }

function rsa(name: string, bits: number) {
  return { kty: 'RSA', key: { name, hash: `SHA-${bits}` } }
}

function curve(crv: string) {
  return { kty: 'EC', crv, key: { name: 'ECDSA', namedCurve: crv } }
}

/**
 * Reads a private JWK that contains `kid` and `alg` (RFC 7517); asymmetric algorithms only.
 * @returns the key, or the fault as text that repeats no part of the key
 */
export function readAssertionKey(jwk: Jwk): AssertionKey | string {
  const { kid, alg, kty, crv } = jwk
  if (typeof kid !== 'string' || kid === '') return 'has no kid'
  const rule = typeof alg === 'string' && Object.hasOwn(algorithms, alg) ? algorithms[alg] : null
  if (typeof alg !== 'string' || !rule) {
    return `has an alg that is not one of ${Object.keys(algorithms).join(', ')}`
  }
  if (kty !== rule.kty || (rule.crv !== undefined && crv !== rule.crv)) {
    return 'has a key type that does not match its alg'
  }
  const key = importKey(jwk)
  if (key === null) return 'is not a private key'
  const bits = key.asymmetricKeyDetails?.modulusLength
  if (bits !== undefined && bits < minimumRsaBits) return `has fewer than ${minimumRsaBits} bits`
  return { key: key.toCryptoKey(rule.key, false, ['sign']), kid, alg }
}

/**
 * Reads a P-256 private key in PEM (PKCS #8) for ES256. Line breaks may be written as `\\n`, as they
 * are in environment files.
 * @returns the key, or the fault as text that repeats no part of the key
 */
export function readPemKey(pem: string, kid: string): AssertionKey | string {
  const key = importPem(pem.replaceAll('\\n', '\n'))
  if (key === null) return 'is not a private key in PEM (PKCS #8)'
  const curveName = key.asymmetricKeyDetails?.namedCurve
  if (curveName !== 'prime256v1') {
    return `must be a P-256 key, for ES256; it is of kind ${curveName ?? key.asymmetricKeyType}`
  }
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' }
  return { key: key.toCryptoKey(algorithm, false, ['sign']), kid, alg: 'ES256' }
}

function importPem(pem: string): KeyObject | null {
  try {
    return createPrivateKey(pem)
  } catch {
    return null
  }
}

function importKey(jwk: Jwk): KeyObject | null {
  try {
    return createPrivateKey({ key: { ...jwk }, format: 'jwk' })
  } catch {
    return null
  }
}
