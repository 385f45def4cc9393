import t from 'tap'
import type { Faults } from '#test/support/provider/hostile-provider.ts'
import {
  attempt,
  clientId,
  clock,
  ecKey,
  now,
  relyingParty,
  rsaKey,
  startProvider,
  strangerKey,
} from '#test/support/provider/sign-in-attempt.ts'

type Row = [name: string, fault: Partial<Faults>, reason: string]

t.afterEach(() => {
  clock.seconds = now
})

t.test('invalid claims are refused without another call to the provider', async (t) => {
  const op = await startProvider(t)
  const rows: Row[] = [
    ['B2 iss of another issuer', { claims: { iss: `${op.issuer}1` } }, 'id-token-issuer'],
    ['iss with a trailing slash', { claims: { iss: `${op.issuer}/` } }, 'id-token-issuer'],
    ['iss missing', { claims: { iss: undefined } }, 'id-token-issuer'],
    ['iss is a list', { claims: { iss: [op.issuer] } }, 'id-token-issuer'],
    ['B3 sub missing', { claims: { sub: undefined } }, 'id-token-subject'],
    ['sub is a number', { claims: { sub: 1 } }, 'id-token-subject'],
    ['sub is empty', { claims: { sub: '' } }, 'id-token-subject'],
    ['sub has 256 characters', { claims: { sub: 'a'.repeat(256) } }, 'id-token-subject'],
    ['B4 aud of another client', { claims: { aud: `${clientId}1` } }, 'id-token-audience'],
    ['D1 aud missing', { claims: { aud: undefined } }, 'id-token-audience'],
    ['aud is an object', { claims: { aud: {} } }, 'id-token-audience'],
    ['aud with another client', { claims: { aud: [clientId, 'x'] } }, 'id-token-audience'],
    [
      '… and azp is this client',
      { claims: { aud: [clientId, 'x'], azp: clientId } },
      'id-token-audience',
    ],
    [
      '… and azp is the other client',
      { claims: { aud: [clientId, 'x'], azp: 'x' } },
      'id-token-azp',
    ],
    ['azp of another client', { claims: { azp: 'x' } }, 'id-token-azp'],
    ['B5 iat missing', { claims: { iat: undefined } }, 'id-token-issued-at'],
    ['iat is text', { claims: { iat: `${now}` } }, 'id-token-issued-at'],
    ['exp missing', { claims: { exp: undefined } }, 'id-token-expired'],
    ['exp is text', { claims: { exp: `${now + 300}` } }, 'id-token-expired'],
    ['exp 301 s ago', { claims: { exp: now - 301 } }, 'id-token-expired'],
    ['nbf in the future', { claims: { nbf: now + 300 } }, 'id-token-not-yet-valid'],
    ['B12 nonce of another sign-in', { claims: { nonce: 'x' } }, 'id-token-nonce'],
    ['nonce missing', { claims: { nonce: undefined } }, 'id-token-nonce'],
    ['nonce is null', { claims: { nonce: null } }, 'id-token-nonce'],
    ['at_hash of another token', { claims: { at_hash: 'x' } }, 'id-token-at-hash'],
    ['payload is a list', { payload: [] }, 'id-token-malformed'],
    ['payload is null', { payload: null }, 'id-token-malformed'],
    ['payload is not JSON', { payload: '{' }, 'id-token-malformed'],
  ]
  for (const [name, fault, reason] of rows) {
    const result = await attempt(t, op, fault)
    t.equal(result.reason, reason, name)
    t.same(result.calls, { metadata: 1, jwks: 0, token: 1 }, `${name}: no further call`)
  }
})

t.test('an invalid header or format is refused without another call to the provider', async (t) => {
  const op = await startProvider(t)
  const alg = (name: unknown): Partial<Faults> => ({ header: { alg: name } })
  const rows: Row[] = [
    ['B9, C4 alg none', alg('none'), 'id-token-algorithm'],
    ['alg None', alg('None'), 'id-token-algorithm'],
    ['alg nOnE', alg('nOnE'), 'id-token-algorithm'],
    ['alg empty', alg(''), 'id-token-algorithm'],
    ['alg missing', alg(undefined), 'id-token-algorithm'],
    ['alg is a list', alg(['RS256']), 'id-token-algorithm'],
    ['alg rs256', alg('rs256'), 'id-token-algorithm'],
    ['HS256 with our own secret', alg('HS256'), 'id-token-algorithm'],
    ['D2 HS256, invalid MAC', { ...alg('HS256'), corruptSignature: true }, 'id-token-algorithm'],
    ['ES256, published but not configured', { signingKey: ecKey }, 'id-token-algorithm'],
    ['typ at+jwt', { header: { typ: 'at+jwt' } }, 'id-token-type'],
    ['typ JWS', { header: { typ: 'JWS' } }, 'id-token-type'],
    ['typ text/jwt', { header: { typ: 'text/jwt' } }, 'id-token-type'],
    ['crit', { header: { crit: ['x'], x: 1 } }, 'id-token-malformed'],
    ['not a JWT', { idToken: () => 'x' }, 'id-token-malformed'],
    ['two parts', { idToken: (token) => token.split('.', 2).join('.') }, 'id-token-malformed'],
    ['JWE form', { idToken: (token) => `${token}.x.y` }, 'id-token-malformed'],
    ['header is not JSON', { idToken: () => 'e30x.e30.' }, 'id-token-malformed'],
    ['header is a list', { idToken: () => 'W10.e30.' }, 'id-token-malformed'],
    ['missing', { tokenBody: { id_token: undefined } }, 'id-token-missing'],
    ['null', { tokenBody: { id_token: null } }, 'id-token-missing'],
    ['empty', { tokenBody: { id_token: '' } }, 'id-token-missing'],
    ['an object', { tokenBody: { id_token: {} } }, 'id-token-missing'],
  ]
  for (const [name, fault, reason] of rows) {
    const result = await attempt(t, op, fault)
    t.equal(result.reason, reason, name)
    t.same(result.calls, { metadata: 1, jwks: 0, token: 1 }, `${name}: no further call`)
  }
})

t.test('an invalid signature is refused after one key fetch', async (t) => {
  const op = await startProvider(t)
  const own = { jwk: strangerKey.jwk, jku: `${op.issuer}/stolen`, x5u: `${op.issuer}/stolen` }
  const rows: Row[] = [
    ['B10 every byte changed', { corruptSignature: true }, 'id-token-signature'],
    ['cut off', { idToken: (token) => token.replace(/[^.]*$/, '') }, 'id-token-signature'],
    ['not base64url', { idToken: (token) => `${token}!` }, 'id-token-signature'],
    ['unpublished key', { signingKey: strangerKey }, 'id-token-signature'],
    ['key in the header', { signingKey: strangerKey, header: own }, 'id-token-signature'],
    ['claims changed after signing', { idToken: withOtherSubject }, 'id-token-signature'],
  ]
  for (const [name, fault, reason] of rows) {
    const result = await attempt(t, op, fault)
    t.equal(result.reason, reason, name)
    t.same(result.calls, { metadata: 1, jwks: 1, token: 1 }, `${name}: no further call`)
  }
  t.notOk(op.requests.some(({ url }) => url === '/stolen'))
  const es = relyingParty(op, { idTokenAlgorithms: ['ES256'] })
  const d3 = await attempt(t, op, { signingKey: ecKey, corruptSignature: true }, es)
  t.equal(d3.reason, 'id-token-signature', 'D3 ES256, invalid')
})

t.test('only configured algorithms are accepted; there can be several', async (t) => {
  const op = await startProvider(t)
  const both = { idTokenAlgorithms: ['RS256', 'ES256'] } as const
  for (const signingKey of [rsaKey, ecKey]) {
    const { outcome } = await attempt(t, op, { signingKey }, relyingParty(op, both))
    t.equal(outcome?.subject, 'subject-1', `B8 ${signingKey.alg}`)
  }
  const careless = { idTokenAlgorithms: ['none', 'HS256'] } as const
  for (const name of careless.idTokenAlgorithms) {
    const fault = { header: { alg: name }, claims: { at_hash: undefined } }
    const result = await attempt(t, op, fault, relyingParty(op, careless))
    t.equal(result.reason, 'id-token-signature', `${name} fails even if configured`)
  }
})

t.test('times are checked against the clock to the second', async (t) => {
  const op = await startProvider(t)
  const rows: [string, Partial<Faults>, string | null][] = [
    ['nbf now', { claims: { nbf: now } }, null],
    ['exp 29 s ago', { claims: { exp: now - 29 } }, null],
    ['exp 30 s ago', { claims: { exp: now - 30 } }, 'id-token-expired'],
    ['exp 31 s ago', { claims: { exp: now - 31 } }, 'id-token-expired'],
    ['iat 600 s ago', { claims: { iat: now - 600 } }, null],
    ['iat 601 s ago', { claims: { iat: now - 601 } }, 'id-token-issued-at'],
    ['iat 600 s in the future', { claims: { iat: now + 600, exp: now + 900 } }, null],
    [
      'iat 601 s in the future',
      { claims: { iat: now + 601, exp: now + 900 } },
      'id-token-issued-at',
    ],
    ['lifetime of a day', { claims: { exp: now + 86_400 } }, null],
    ['… and a second', { claims: { exp: now + 86_401 } }, 'id-token-lifetime'],
  ]
  for (const [name, fault, reason] of rows) {
    t.equal((await attempt(t, op, fault)).reason, reason, name)
  }
  const fault = { claims: { iat: now, exp: now + 60 } }
  clock.seconds = now + 89
  t.equal((await attempt(t, op, fault)).reason, null, 'at 29 s after exp')
  clock.seconds = now + 90
  t.equal((await attempt(t, op, fault)).reason, 'id-token-expired', 'at 30 s after exp')
})

function withOtherSubject(token: string): string {
  const [header, payload = '', signature] = token.split('.')
  const claims = { ...JSON.parse(Buffer.from(payload, 'base64url').toString()), sub: 'someone' }
  return `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`
}
