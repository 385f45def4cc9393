import t from 'tap'
import { completeClaims } from '#src/auth/oidc/userinfo.ts'
import type { Faults } from '#test/support/provider/hostile-provider.ts'
import { type Json, signToken } from '#test/support/provider/hostile-tokens.ts'
import {
  attempt,
  relyingParty,
  rsaKey,
  startProvider,
  strangerKey,
} from '#test/support/provider/sign-in-attempt.ts'

const config = { userinfo: true } as const
const bare = { claims: { email: undefined, email_verified: undefined, name: undefined } }
const told = { email: 'ada@example.com', email_verified: true, name: 'Ada' }

t.test('userinfo is requested only if it is configured', async (t) => {
  const op = await startProvider(t)
  const { outcome } = await attempt(t, op, { ...bare, userinfo: told })
  t.match(outcome, { email: null, name: null })
  t.equal(op.calls.userinfo, 0)
})

t.test('D4 B1 it adds missing claims; the access token is sent in the header', async (t) => {
  const op = await startProvider(t)
  const fault = { ...bare, userinfo: told }
  const { outcome } = await attempt(t, op, fault, relyingParty(op, config))
  t.match(outcome, { email: 'ada@example.com', emailVerified: true, name: 'Ada' })
  const asked = op.requests.find(({ url }) => url.startsWith('/userinfo'))
  t.equal(asked?.method, 'GET')
  t.equal(asked?.headers.authorization, `Bearer ${op.records.accessTokens[0]}`)
  t.equal(asked?.url, '/userinfo')
  t.equal(asked?.body.length, 0)
})

t.test('D5 a signed response is verified and accepted', async (t) => {
  const op = await startProvider(t)
  const fault = { ...bare, userinfo: told, signedUserinfo: {} }
  const { outcome } = await attempt(t, op, fault, relyingParty(op, config))
  t.match(outcome, { email: 'ada@example.com', emailVerified: true, name: 'Ada' })
})

t.test(
  'D6 aggregated and distributed claims are ignored; their URLs are never called',
  async (t) => {
    const op = await startProvider(t)
    const userinfo = {
      ...told,
      email: undefined,
      _claim_names: { email: 'far', name: 'near' },
      _claim_sources: {
        far: { endpoint: `${op.issuer}/claims`, access_token: 'x' },
        near: { JWT: 'eyJhbGciOiJub25lIn0.eyJlbWFpbCI6ImV2ZUBleGFtcGxlLmNvbSJ9.' },
      },
    }
    for (const signedUserinfo of [undefined, {}]) {
      const fault = { ...bare, userinfo, ...(signedUserinfo && { signedUserinfo }) }
      const { outcome } = await attempt(t, op, fault, relyingParty(op, config))
      t.match(outcome, { email: null, emailVerified: false, name: 'Ada' })
    }
    t.notOk(op.requests.some(({ url }) => url === '/claims'))
  },
)

t.test('beside a complete id_token it is left out when it does not answer', async (t) => {
  const op = await startProvider(t)
  const whole = { email: 'ada@example.com', email_verified: true, name: 'Ada' }
  const faults: [string, Partial<Faults>, string][] = [
    ['403', { userinfoAnswer: { status: 403, body: '{}' } }, 'userinfo-rejected'],
    ['503', { userinfoAnswer: { status: 503 } }, 'server-error'],
    ['broken off', { userinfoAnswer: 'reset' }, 'network'],
    ['no endpoint', { metadata: { userinfo_endpoint: null } }, 'metadata-endpoint-missing'],
  ]
  for (const [name, fault, fails] of faults) {
    const signIn = (claims: Json, more = {}) =>
      attempt(t, op, { ...fault, claims }, relyingParty(op, { ...config, ...more }))
    t.match((await signIn(whole)).outcome, { email: whole.email, emailVerified: true }, name)
    for (const missing of Object.keys(whole)) {
      const { reason } = await signIn({ ...whole, [missing]: undefined })
      t.ok(reason, `${name}, without ${missing}`)
    }
    const required = { require: [{ claim: 'groups', values: ['staff'] }] }
    t.equal((await signIn(whole, required)).reason, fails, 'a required claim is missing')
    const grouped = await signIn({ ...whole, groups: ['staff'] }, required)
    t.match(grouped.outcome, { email: whole.email }, 'a required claim is in the id_token')
    t.equal((await signIn({ ...whole, groups: [] }, required)).reason, 'claim-required')
  }
  const { reason } = await attempt(
    ...[t, op, { claims: whole, userinfo: { sub: 'another' } }, relyingParty(op, config)],
  )
  t.equal(reason, 'userinfo-subject', 'a wrong answer is not left out')
})

t.test('B11 an invalid userinfo response refuses the sign-in', async (t) => {
  const op = await startProvider(t)
  const jwt = { signedUserinfo: {} }
  const rows: [string, Partial<Faults>, string][] = [
    ['B11 another sub', { userinfo: { sub: 'subject-1invalid' } }, 'userinfo-subject'],
    ['no sub', { userinfo: { sub: undefined } }, 'userinfo-subject'],
    ['sub is a number', { userinfo: { sub: 1 } }, 'userinfo-subject'],
    ['signed, another sub', { signedUserinfo: { sub: 'x' } }, 'userinfo-subject'],
    ['signed, other issuer', { signedUserinfo: { iss: 'http://x' } }, 'userinfo-malformed'],
    ['signed, other audience', { signedUserinfo: { aud: 'x' } }, 'userinfo-malformed'],
    ['signed, expired', { signedUserinfo: { exp: 1 } }, 'userinfo-malformed'],
    ['401', { userinfoAnswer: { status: 401, body: '{}' } }, 'userinfo-rejected'],
    ['204', { userinfoAnswer: { status: 204, body: '' } }, 'userinfo-rejected'],
    [
      'redirect',
      { userinfoAnswer: { status: 302, headers: { location: '/elsewhere' } } },
      'userinfo-rejected',
    ],
    [
      'HTML',
      { userinfoAnswer: { headers: { 'content-type': 'text/html' } } },
      'userinfo-malformed',
    ],
    ['no JSON', { userinfoAnswer: { body: 'sub=subject-1' } }, 'userinfo-malformed'],
    ['a list', { userinfoAnswer: { body: '[]' } }, 'userinfo-malformed'],
    ['503', { userinfoAnswer: { status: 503 } }, 'server-error'],
    ['endless', { userinfoAnswer: 'endless' }, 'too-large'],
    ['broken off', { userinfoAnswer: 'reset' }, 'network'],
    ['never answered', { userinfoAnswer: 'hang' }, 'timeout'],
    ['no endpoint', { metadata: { userinfo_endpoint: undefined } }, 'metadata-endpoint-missing'],
    [
      'insecure endpoint',
      { metadata: { userinfo_endpoint: 'http://example.com/userinfo' } },
      'metadata-endpoint-insecure',
    ],
  ]
  for (const [name, fault, reason] of rows) {
    const deadline = reason === 'timeout' ? { deadlineMs: 500 } : {}
    const provider = relyingParty(op, config, deadline)
    const result = await attempt(t, op, { ...bare, ...fault }, provider)
    t.equal(result.reason, reason, name)
  }
  t.notOk(
    op.requests.some(({ url }) => url === '/elsewhere'),
    'a redirect is not followed with the access token',
  )
  const honest = await attempt(t, op, jwt, relyingParty(op, config))
  t.equal(honest.reason, null, 'a valid response is accepted')
})

t.test('a signed response with an invalid signature or algorithm is refused', async (t) => {
  const op = await startProvider(t)
  const stranger = relyingParty(op, config)
  // The id_token must stay valid, so only the userinfo response is changed.
  const rows: [string, (token: string) => string, string][] = [
    ['broken', (token) => `${token.slice(0, -8)}AAAAAAAA`, 'userinfo-signature'],
    [
      'other payload',
      (token) => token.replace(/\.[^.]+\./, `.${changed()}.`),
      'userinfo-signature',
    ],
    ['none', (token) => `${encode({ alg: 'none' })}.${token.split('.')[1]}.`, 'userinfo-malformed'],
    [
      'HS256',
      (token) => `${encode({ alg: 'HS256' })}.${token.split('.')[1]}.AAAA`,
      'userinfo-malformed',
    ],
  ]
  const claims = { iss: op.issuer, aud: 'gatehouse', sub: 'subject-1' }
  const signed = await signToken({ alg: 'RS256', kid: rsaKey.kid }, claims, rsaKey, '')
  const foreign = await signToken({ alg: 'RS256', kid: rsaKey.kid }, claims, strangerKey, '')
  const send = (body: string) => ({
    userinfoAnswer: { headers: { 'content-type': 'application/jwt' }, body },
  })
  for (const [name, change, reason] of rows) {
    t.equal((await attempt(t, op, send(change(signed)), stranger)).reason, reason, name)
  }
  t.equal((await attempt(t, op, send(foreign), stranger)).reason, 'userinfo-signature')
  t.equal((await attempt(t, op, send(signed), stranger)).reason, null)
})

t.test('email and email_verified are never combined from two sources', async (t) => {
  const rows: [Json, Json, Json][] = [
    [{}, told, told],
    [{ email_verified: true }, { email: 'eve@x' }, { email: 'eve@x', email_verified: undefined }],
    [{ email: 'a@x' }, { email: 'b@x', email_verified: true }, { email: 'a@x' }],
    [
      { email: 'a@x' },
      { email: 'a@x', email_verified: true },
      { email: 'a@x', email_verified: true },
    ],
    [
      { email: 'a@x', email_verified: false },
      { email: 'a@x', email_verified: true },
      { email: 'a@x', email_verified: false },
    ],
    [{ name: 'A' }, { name: 'B' }, { name: 'A' }],
  ]
  for (const [claims, userinfo, expected] of rows) {
    const { name, email, email_verified } = completeClaims(claims, userinfo)
    t.match({ name, email, email_verified }, expected)
    if (!('email_verified' in expected)) t.equal(email_verified, undefined)
  }
})

function changed(): string {
  return encode({ sub: 'subject-1', email: 'eve@example.com', email_verified: true })
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
