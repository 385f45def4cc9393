import {
  createPrivateKey,
  createPublicKey,
  hash,
  hkdfSync,
  type KeyObject,
  sign,
} from 'node:crypto'

/** The public half of a signing key (RFC 8037), as a key set publishes it (RFC 7517). */
export type PublicJwk = {
  kty: 'OKP'
  crv: 'Ed25519'
  x: string
  kid: string
  alg: 'EdDSA'
  use: 'sig'
}

/** An Ed25519 key that signs tokens. */
export type SigningKey = { readonly key: KeyObject; readonly jwk: PublicJwk }

const seedBytes = 32 // RFC 8032, 5.1.5
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex') // RFC 8410, 7

/**
 * Derives a key from a secret of at least 32 bytes (HKDF-SHA256, RFC 5869): every process with the
 * secret has the same key, and the key tells nothing about the secret.
 * @param purpose keys of different purposes have nothing in common
 */
export function deriveSigningKey(secret: Uint8Array, purpose: string): SigningKey {
  const seed = Buffer.from(hkdfSync('sha256', secret, '', purpose, seedBytes))
  const der = Buffer.concat([pkcs8Prefix, seed])
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  const kid = hash('sha256', JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }), 'base64url') // RFC 7638
  return { key, jwk: { kty: 'OKP', crv: 'Ed25519', x, kid, alg: 'EdDSA', use: 'sig' } }
}

/**
 * A signed JSON Web Token (RFC 7519) in its compact form. Not by `jose`, whose WebCrypto takes twice
 * the time of a signature, and one is made for every request to the app behind the proxy.
 */
export function signToken({ key, jwk }: SigningKey, claims: object): string {
  const header = { alg: jwk.alg, typ: 'JWT', kid: jwk.kid }
  const signed = `${base64url(header)}.${base64url(claims)}`
  return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`
}

function base64url(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url')
}
