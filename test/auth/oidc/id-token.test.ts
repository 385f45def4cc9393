import { createHash } from 'node:crypto'
import t from 'tap'
import {
  matchesAccessTokenHash,
  readIdToken,
  validateIdToken,
} from '#src/auth/oidc/tokens/id-token.ts'

const nowSeconds = 1_900_000_000
const expected = { nonce: 'nonce-1', nowSeconds }
const rules = {
  issuer: 'https://op.example',
  issuerTemplate: null,
  clientId: 'gatehouse',
  audiences: [],
  idTokenAlgorithms: ['RS256'],
}
const header = { alg: 'RS256', typ: 'JWT' }
const claims = {
  iss: 'https://op.example',
  sub: 'subject-1',
  aud: 'gatehouse',
  nonce: 'nonce-1',
  iat: nowSeconds,
  exp: nowSeconds + 300,
}
const day = 86_400

const rows: [string, Record<string, unknown>, string | null][] = [
  ['honest', {}, null],
  ['aud: a list with only this client', { aud: ['gatehouse'] }, null],
  ['aud: empty list', { aud: [] }, 'id-token-audience'],
  ['aud: a second audience', { aud: ['gatehouse', 'other'] }, 'id-token-audience'],
  [
    'aud: a second audience, and azp is this client',
    { aud: ['gatehouse', 'x'], azp: 'gatehouse' },
    'id-token-audience',
  ],
  ['aud: this client twice', { aud: ['gatehouse', 'gatehouse'] }, 'id-token-audience'],
  ['aud: another', { aud: 'gatehouse1' }, 'id-token-audience'],
  ['aud: missing', { aud: undefined }, 'id-token-audience'],
  ['aud: nested list', { aud: [['gatehouse']] }, 'id-token-audience'],
  ['azp: this client', { azp: 'gatehouse' }, null],
  ['azp: another', { azp: 'other' }, 'id-token-azp'],
  ['azp: null counts as absent', { azp: null }, null],
  ['azp: a list with this client', { azp: ['gatehouse'] }, 'id-token-azp'],
  ['exp: 29 s ago', { exp: nowSeconds - 29 }, null],
  ['exp: 30 s ago', { exp: nowSeconds - 30 }, 'id-token-expired'],
  ['exp: 31 s ago', { exp: nowSeconds - 31 }, 'id-token-expired'],
  ['exp: fraction', { exp: nowSeconds + 0.5 }, null],
  ['exp: fraction, 30 s ago', { exp: nowSeconds - 30.5 }, 'id-token-expired'],
  ['exp: infinite', { exp: Number.POSITIVE_INFINITY }, 'id-token-expired'],
  ['exp: text', { exp: String(nowSeconds + 300) }, 'id-token-expired'],
  ['exp: missing', { exp: undefined }, 'id-token-expired'],
  ['iat: 599 s ago', { iat: nowSeconds - 599 }, null],
  ['iat: 600 s ago', { iat: nowSeconds - 600 }, null],
  ['iat: 601 s ago', { iat: nowSeconds - 601 }, 'id-token-issued-at'],
  ['iat: 599 s in the future', { iat: nowSeconds + 599, exp: nowSeconds + 900 }, null],
  ['iat: 600 s in the future', { iat: nowSeconds + 600, exp: nowSeconds + 900 }, null],
  [
    'iat: 601 s in the future',
    { iat: nowSeconds + 601, exp: nowSeconds + 900 },
    'id-token-issued-at',
  ],
  ['iat: fraction', { iat: nowSeconds - 0.5 }, null],
  ['iat: fraction, over 600 s ago', { iat: nowSeconds - 600.5 }, 'id-token-issued-at'],
  ['iat: not a number', { iat: Number.NaN }, 'id-token-issued-at'],
  ['iat: text', { iat: String(nowSeconds) }, 'id-token-issued-at'],
  ['iat: missing', { iat: undefined }, 'id-token-issued-at'],
  ['lifetime: a day minus 1 s', { exp: nowSeconds + day - 1 }, null],
  ['lifetime: a day', { exp: nowSeconds + day }, null],
  ['lifetime: a day and 1 s', { exp: nowSeconds + day + 1 }, 'id-token-lifetime'],
  ['sub: 1 character', { sub: 'a' }, null],
  ['sub: 255 characters', { sub: 'a'.repeat(255) }, null],
  ['sub: 256 characters', { sub: 'a'.repeat(256) }, 'id-token-subject'],
  ['sub: empty', { sub: '' }, 'id-token-subject'],
  ['sub: both ends of printable ASCII', { sub: '! ~' }, null],
  ['sub: control character', { sub: 'a\u0000' }, 'id-token-subject'],
  ['sub: line feed', { sub: 'a\n' }, 'id-token-subject'],
  ['sub: delete', { sub: 'a\u007f' }, 'id-token-subject'],
  ['sub: outside ASCII', { sub: 'é' }, 'id-token-subject'],
  ['sub: number', { sub: 1 }, 'id-token-subject'],
  ['sub: missing', { sub: undefined }, 'id-token-subject'],
]

for (const [name, changes, reason] of rows) {
  t.equal(
    validateIdToken({ header, claims: { ...claims, ...changes } }, rules, expected),
    reason,
    name,
  )
}

const types: [unknown, string | null][] = [
  [undefined, null],
  ['JWT', null],
  ['jwt', null],
  ['application/jwt', null],
  ['Application/JWT', null],
  ['', null],
  [null, null],
  [['JWT'], 'id-token-type'],
  ['application/application/jwt', 'id-token-type'],
  ['at+jwt', 'id-token-type'],
  ['application/at+jwt', 'id-token-type'],
  ['logout+jwt', 'id-token-type'],
  ['text/jwt', 'id-token-type'],
]
for (const [typ, reason] of types) {
  const token = { header: { alg: 'RS256', typ }, claims }
  t.equal(validateIdToken(token, rules, expected), reason, `typ ${typ}`)
}

t.test('at_hash is checked when present', async (t) => {
  // OpenID Connect Core, appendix A.3
  const token = 'jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y'
  const published = { at_hash: '77QmUPtjPfzWtF2AnpK9RQ' }
  const matches = (alg: unknown, claims: Record<string, unknown>, accessToken: string) =>
    matchesAccessTokenHash({ header: { alg }, claims }, accessToken)
  t.ok(await matches('RS256', published, token))
  t.notOk(await matches('RS256', published, `${token}1`))
  t.notOk(await matches('RS512', published, token), 'another hash function')
  t.ok(await matches('RS256', {}, token), 'absent')
  for (const at_hash of ['77QmUPtjPfzWtF2AnpK9RQ==', ' ', 'x', 1, ['77QmUPtjPfzWtF2AnpK9RQ']]) {
    t.notOk(await matches('RS256', { at_hash }, token), `${at_hash}`)
  }
  for (const at_hash of ['', null]) {
    t.ok(await matches('RS256', { at_hash }, token), `${at_hash} counts as absent`)
  }
  const hashes: [string, string][] = [
    ['RS256', 'sha256'],
    ['PS256', 'sha256'],
    ['ES256', 'sha256'],
    ['RS384', 'sha384'],
    ['PS384', 'sha384'],
    ['ES384', 'sha384'],
    ['RS512', 'sha512'],
    ['PS512', 'sha512'],
    ['ES512', 'sha512'],
    ['EdDSA', 'sha512'],
    ['Ed25519', 'sha512'],
  ]
  for (const [alg, hash] of hashes) {
    const digest = createHash(hash).update(token).digest()
    const at_hash = digest.subarray(0, digest.length / 2).toString('base64url')
    t.ok(await matches(alg, { at_hash }, token), alg)
  }
  for (const alg of ['HS256', 'none', 'rs256', 'XRS256', undefined, ['RS256']]) {
    t.notOk(await matches(alg, published, token), `${alg}`)
  }
})

t.test('email_verified counts only as the boolean true and with an address', async (t) => {
  const read = (changes: Record<string, unknown>) =>
    readIdToken('https://op.example', { ...claims, ...changes })
  const email = 'ada@example.com'
  t.equal(read({ email, email_verified: true }).emailVerified, true)
  for (const email_verified of ['true', 1, 'yes', null, undefined, false, [true], {}]) {
    t.equal(read({ email, email_verified }).emailVerified, false, `${email_verified}`)
  }
  t.equal(read({ email_verified: true }).emailVerified, false, 'no address')
})

t.test('claims that are not usable text are null', async (t) => {
  const read = (changes: Record<string, unknown>) =>
    readIdToken('https://op.example', { ...claims, ...changes })
  t.same(read({}), {
    issuer: 'https://op.example',
    subject: 'subject-1',
    email: null,
    emailVerified: false,
    name: null,
    locale: null,
    sessionId: null,
    authenticatedAt: null,
  })
  t.equal(read({ email: 'a'.repeat(320) }).email, 'a'.repeat(320))
  const padded = read({ email: ' ada@example.com\u00A0', email_verified: true })
  t.match(padded, { email: 'ada@example.com', emailVerified: true })
  const parted = read({ email: 'ada lovelace@example.com', email_verified: true })
  t.match(parted, { email: null, emailVerified: false }, 'no address')
  t.equal(read({ email: 'a'.repeat(321) }).email, null)
  t.equal(read({ name: 'Ada Lovelace – Ω' }).name, 'Ada Lovelace – Ω')
  t.equal(read({ sid: 'session-1' }).sessionId, 'session-1')
  for (const value of [1, true, null, '', ['a'], {}, 'a\u0000b', 'a'.repeat(400)]) {
    const { email, name, sessionId } = read({ email: value, name: value, sid: value })
    t.same([email, name, sessionId], [null, null, null], JSON.stringify(value).slice(0, 20))
  }
})
