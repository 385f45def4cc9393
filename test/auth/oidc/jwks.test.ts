import { exportJWK, generateKeyPair } from 'jose'
import t from 'tap'
import { makeKey, rotatedKey } from '#test/support/provider/hostile-tokens.ts'
import {
  attempt,
  clock,
  ecKey,
  now,
  relyingParty,
  rsaKey,
  signIn,
  startProvider,
  strangerKey,
} from '#test/support/provider/sign-in-attempt.ts'

const noKid = { header: { kid: undefined } }

t.afterEach(() => {
  clock.seconds = now
})

t.test('B6 without kid the only matching key is used', async (t) => {
  const op = await startProvider(t)
  const { publicKey } = await generateKeyPair('EdDSA')
  const keys = [rsaKey.jwk, ecKey.jwk, await exportJWK(publicKey)].map(withoutKid)
  t.equal((await attempt(t, op, { ...noKid, jwks: { keys } })).reason, null)
})

t.test('B7 without kid and with several matching keys the token is refused', async (t) => {
  const op = await startProvider(t)
  const keys = [rsaKey, await rotatedKey('RS256'), await rotatedKey('RS256')]
  const jwks = { keys: keys.map(({ jwk }) => withoutKid(jwk)) }
  const { reason, calls } = await attempt(t, op, { ...noKid, jwks })
  t.equal(reason, 'id-token-key')
  t.same(calls, { metadata: 1, jwks: 1, token: 1 }, 'keys are not fetched again')
})

t.test('C2 the published jwks_uri is used', async (t) => {
  const op = await startProvider(t)
  const metadata = { jwks_uri: `${op.issuer}/jwks-3f1c` }
  t.equal((await attempt(t, op, { metadata })).reason, null)
  t.ok(op.requests.some(({ url }) => url === '/jwks-3f1c'))
})

t.test('C5 keys rotated right before signing are fetched again', async (t) => {
  const op = await startProvider(t)
  const provider = relyingParty(op)
  t.equal((await attempt(t, op, {}, provider)).calls.jwks, 1)
  const beforeSigning = async () => void op.keys.splice(0, 1, await rotatedKey('RS256'))
  const { reason, calls } = await attempt(t, op, { beforeSigning }, provider)
  t.equal(reason, null)
  t.equal(calls.jwks, 1, 'one more key fetch')
  t.equal((await attempt(t, op, {}, provider)).calls.jwks, 0, 'then cached')
})

t.test('C6 keys rotated between two sign-ins are fetched again', async (t) => {
  const op = await startProvider(t)
  const provider = relyingParty(op)
  await attempt(t, op, {}, provider)
  op.keys.splice(0, 1, await rotatedKey('RS256'))
  const { reason, calls } = await attempt(t, op, {}, provider)
  t.same([reason, calls.jwks], [null, 1])
})

t.test('unknown keys cause at most one more fetch per provider and minute', async (t) => {
  const op = await startProvider(t)
  const provider = relyingParty(op)
  await attempt(t, op, {}, provider)
  const unknown = { header: { kid: 'unknown' } }
  const rows: [number, number][] = [
    [0, 1],
    [0, 0],
    [59, 0],
    [60, 1],
    [61, 0],
  ]
  for (const [seconds, fetches] of rows) {
    clock.seconds = now + seconds
    const { reason, calls } = await attempt(t, op, unknown, provider)
    t.equal(reason, 'id-token-key')
    t.equal(calls.jwks, fetches, `after ${seconds} s`)
  }
  clock.seconds = now
  const other = await attempt(t, op, unknown, relyingParty(op))
  t.equal(other.calls.jwks, 2, 'another provider has its own renewal window')
})

t.test('concurrent sign-ins after a key rotation share one fetch and all succeed', async (t) => {
  const op = await startProvider(t)
  const provider = relyingParty(op)
  await attempt(t, op, {}, provider)
  const before = op.calls.jwks
  op.keys.splice(0, 1, await rotatedKey('RS256'))
  const results = await Promise.all(Array.from({ length: 10 }, () => signIn(op, provider)))
  t.equal(results.length, 10)
  t.equal(op.calls.jwks - before, 1)
})

t.test('sign-ins that waited for the same old keys share the new ones', async (t) => {
  const op = await startProvider(t)
  const signingKey = await rotatedKey('RS256')
  const bothWait = Promise.withResolvers<void>()
  let redeemed = 0
  const slowKeys: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    if (String(input).endsWith('/jwks')) await bothWait.promise
    if (!String(input).endsWith('/token')) return response
    redeemed += 1
    if (redeemed === 2) roundTrips(op.issuer, 5).then(bothWait.resolve, bothWait.reject)
    return response
  }
  const provider = relyingParty(op, {}, { fetch: slowKeys })
  op.fault = {
    signingKey,
    get jwks() {
      return { keys: op.calls.jwks === 1 ? [rsaKey.jwk] : [signingKey.jwk] }
    },
  }
  const results = await Promise.all([signIn(op, provider), signIn(op, provider)])
  t.equal(results.length, 2)
  t.equal(op.calls.jwks, 2)
})

t.test('keys are kept while the provider cannot send new ones', async (t) => {
  const op = await startProvider(t)
  const provider = relyingParty(op)
  t.equal((await attempt(t, op, {}, provider)).reason, null)
  const jwksAnswer = { status: 500 }
  const refused = await attempt(t, op, { header: { kid: 'unknown' }, jwksAnswer }, provider)
  t.equal(refused.calls.jwks, 1)
  const { reason, calls } = await attempt(t, op, { jwksAnswer }, provider)
  t.strictSame([reason, calls.jwks], [null, 0], 'the known keys still verify')
})

t.test('kid is an opaque string', async (t) => {
  const op = await startProvider(t)
  for (const kid of ['../../jwks', "' OR 1=1 --", 'http://127.0.0.1/x', ' ', '\u0000']) {
    const { reason } = await attempt(t, op, { header: { kid } })
    t.equal(reason, 'id-token-key', JSON.stringify(kid))
  }
  const key = await makeKey('RS256', '../../etc/passwd?x#y')
  op.keys.push(key)
  t.equal((await attempt(t, op, { signingKey: key })).reason, null)
})

t.test('a published key for encryption or another algorithm does not match', async (t) => {
  const op = await startProvider(t)
  const changes = [
    { use: 'enc' },
    { alg: 'PS256' },
    { kty: 'EC' },
    { key_ops: ['encrypt'] },
    { n: undefined },
    { n: '' },
    { e: null },
  ]
  for (const change of changes) {
    const jwks = { keys: [{ ...rsaKey.jwk, ...change }] }
    const { reason } = await attempt(t, op, { jwks })
    t.equal(reason, 'id-token-key', JSON.stringify(change))
  }
  const symmetric = { keys: [{ kty: 'oct', kid: rsaKey.kid, k: 'c2VjcmV0' }] }
  t.equal((await attempt(t, op, { jwks: symmetric })).reason, 'id-token-key')
})

t.test('an unusable published key never verifies a token', async (t) => {
  const op = await startProvider(t)
  for (const change of [{ n: 'AQAB' }, { e: '!' }, { n: strangerKey.jwk.n }]) {
    const jwks = { keys: [{ ...rsaKey.jwk, ...change }] }
    const { reason } = await attempt(t, op, { jwks })
    t.equal(reason, 'id-token-signature', JSON.stringify(change).slice(0, 20))
  }
})

t.test('the provider is unavailable if its keys cannot be fetched', async (t) => {
  const op = await startProvider(t)
  const rows = [
    ['500', { jwksAnswer: { status: 500 } }, 'server-error'],
    ['404', { jwksAnswer: { status: 404 } }, 'keys-malformed'],
    ['redirect', { jwksAnswer: { status: 307, headers: { location: '/x' } } }, 'keys-malformed'],
    ['no JSON', { jwksAnswer: { body: '<html>' } }, 'keys-malformed'],
    ['no list', { jwks: { keys: {} } }, 'keys-malformed'],
    ['no objects', { jwks: { keys: ['x'] } }, 'keys-malformed'],
    ['broken off', { jwksAnswer: 'reset' }, 'network'],
    ['endless', { jwksAnswer: 'endless' }, 'too-large'],
  ] as const
  for (const [name, fault, reason] of rows) {
    const result = await attempt(t, op, fault)
    t.equal(result.reason, reason, name)
    t.same(result.calls, { metadata: 1, jwks: 1, token: 1 }, name)
  }
  const hasty = relyingParty(op, {}, { deadlineMs: 2_000 })
  t.equal((await attempt(t, op, { jwksAnswer: 'hang' }, hasty)).reason, 'timeout')
  t.equal((await attempt(t, op, {}, hasty)).reason, null, 'the next sign-in succeeds')
})

async function roundTrips(url: string, count: number): Promise<void> {
  for (let done = 0; done < count; done += 1) await fetch(url)
}

function withoutKid(jwk: object): object {
  return { ...jwk, kid: undefined }
}
