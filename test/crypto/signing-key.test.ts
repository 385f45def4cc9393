import { calculateJwkThumbprint, importJWK, jwtVerify } from 'jose'
import t from 'tap'
import { deriveSigningKey, signToken } from '#src/crypto/signing-key.ts'

const secret = new Uint8Array(32).fill(7)

t.test('a key depends on its secret and its purpose, and on nothing else', (t) => {
  const { jwk } = deriveSigningKey(secret, 'a purpose')
  t.strictSame(deriveSigningKey(secret, 'a purpose').jwk, jwk)
  t.not(deriveSigningKey(secret, 'another purpose').jwk.x, jwk.x)
  t.not(deriveSigningKey(new Uint8Array(32).fill(8), 'a purpose').jwk.x, jwk.x)
  t.end()
})

t.test('its public half is a JWK, named by its thumbprint, without the private one', async (t) => {
  const { jwk } = deriveSigningKey(secret, 'a purpose')
  t.equal(jwk.kid, await calculateJwkThumbprint(jwk))
  t.strictSame(Object.keys(jwk).toSorted(), ['alg', 'crv', 'kid', 'kty', 'use', 'x'])
})

t.test('another implementation verifies its tokens', async (t) => {
  const key = deriveSigningKey(secret, 'a purpose')
  const token = signToken(key, { sub: 'zoë', n: 1 })
  const publicKey = await importJWK(key.jwk)
  const { payload, protectedHeader } = await jwtVerify(token, publicKey, { algorithms: ['EdDSA'] })
  t.strictSame(payload, { sub: 'zoë', n: 1 })
  t.strictSame(protectedHeader, { alg: 'EdDSA', typ: 'JWT', kid: key.jwk.kid })
  const other = await importJWK(deriveSigningKey(secret, 'another purpose').jwk)
  await t.rejects(jwtVerify(token, other), { code: 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED' })
})
