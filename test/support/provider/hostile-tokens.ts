import { randomBytes } from 'node:crypto'
import { exportJWK, generateKeyPair, type JWK } from 'jose'

export type SigningKey = { kid: string; alg: 'RS256' | 'ES256'; privateKey: CryptoKey; jwk: JWK }
export type Json = Record<string, unknown>

/** A new key pair with its published JWK. */
export async function makeKey(alg: 'RS256' | 'ES256', kid: string): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg)
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}

/** Another key of the same type with a new `kid`, as published by a rotation. */
export function rotatedKey(alg: 'RS256' | 'ES256'): Promise<SigningKey> {
  return makeKey(alg, `rotated-${randomBytes(4).toString('hex')}`)
}

/**
 * A compact JWS over any header and payload, including invalid ones: only `alg` of the header
 * decides how `key` or, for HS256, `secret` signs; every other `alg` leaves the signature empty.
 */
export async function signToken(
  header: Json,
  payload: unknown,
  key: SigningKey,
  secret: string,
): Promise<string> {
  const content = `${encode(header)}.${encode(payload)}`
  const signature = await sign(header.alg, Buffer.from(content), key.privateKey, secret)
  return `${content}.${signature.toString('base64url')}`
}

/** Inverts the signature with XOR 0x5A per byte, as the certification suite does. */
export function corruptSignature(token: string): string {
  const [header, payload, signature = ''] = token.split('.')
  const broken = Buffer.from(signature, 'base64url').map((byte) => byte ^ 0x5a)
  return `${header}.${payload}.${Buffer.from(broken).toString('base64url')}`
}

function encode(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString(
    'base64url',
  )
}

async function sign(
  alg: unknown,
  content: Buffer<ArrayBuffer>,
  key: CryptoKey,
  secret: string,
): Promise<Buffer> {
  if (alg === 'RS256') {
    return Buffer.from(await crypto.subtle.sign('RSASSA-PKCS1-v1_5', key, content))
  }
  if (alg === 'ES256') {
    const algorithm = { name: 'ECDSA', hash: 'SHA-256' }
    return Buffer.from(await crypto.subtle.sign(algorithm, key, content))
  }
  if (alg !== 'HS256') return Buffer.alloc(0)
  const mac = { name: 'HMAC', hash: 'SHA-256' }
  const macKey = await crypto.subtle.importKey('raw', Buffer.from(secret), mac, false, ['sign'])
  return Buffer.from(await crypto.subtle.sign('HMAC', macKey, content))
}
