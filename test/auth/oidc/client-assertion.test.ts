import { generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import { type AssertionKey, readAssertionKey } from '#src/crypto/jwk.ts'
import {
  attempt,
  clientId,
  now,
  relyingParty,
  startProvider,
} from '#test/support/provider/sign-in-attempt.ts'

const pairs = {
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  PS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ES384: generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  EdDSA: generateKeyPairSync('ed25519'),
}
type Alg = keyof typeof pairs

function credentials(alg: Alg, kid = `${alg}-1`) {
  const { privateKey, publicKey } = pairs[alg]
  const clientKey = readAssertionKey({ ...privateKey.export({ format: 'jwk' }), kid, alg })
  if (typeof clientKey === 'string') throw new Error(clientKey)
  return { clientKey, published: { ...publicKey.export({ format: 'jwk' }), kid, alg } }
}

const jwtClient = (clientKey: AssertionKey) =>
  ({ clientAuth: 'private_key_jwt', clientSecrets: [], clientKey }) as const

for (const alg of ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'] as const) {
  t.test(`private_key_jwt with ${alg}: valid signature, iss, sub, aud, jti and exp`, async (t) => {
    const op = await startProvider(t)
    const { clientKey, published } = credentials(alg)
    op.records.clientKeys.push(published)
    const provider = relyingParty(op, jwtClient(clientKey))
    t.equal((await attempt(t, op, {}, provider)).reason, null)
    t.equal((await attempt(t, op, {}, provider)).reason, null, 'a new assertion for each request')
    const [first, second] = op.records.assertions
    t.match(first, { iss: clientId, sub: clientId, aud: op.issuer })
    t.not(first?.jti, second?.jti)
    t.ok(Math.abs(Number(first?.iat) - now) <= 2, 'times follow the clock')
    t.ok(Number(first?.exp) - now <= 120, 'it is valid for at most two minutes')
    const sent = op.requests.find(({ url }) => url === '/token')
    t.notMatch(sent?.body.toString(), /client_secret/)
    t.equal(sent?.headers.authorization, undefined)
  })
}

t.test('a provider with another public key refuses the client after one call', async (t) => {
  const op = await startProvider(t)
  op.records.clientKeys.push({ ...credentials('RS256').published, alg: 'PS256' })
  op.records.clientKeys.push({ ...credentials('ES256').published, kid: 'other' })
  for (const alg of ['RS256', 'ES256'] as const) {
    const { clientKey } = credentials(alg)
    const result = await attempt(t, op, {}, relyingParty(op, jwtClient(clientKey)))
    t.equal(result.reason, 'client-rejected')
    t.equal(result.calls.token, 1)
  }
})
