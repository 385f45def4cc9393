import t from 'tap'
import type { Faults } from '#test/support/provider/hostile-provider.ts'
import { auditTrail } from '#test/support/provider/sign-in-journey.ts'
import {
  askInChild,
  createWorld,
  grantRow,
  grantTokens,
  identity,
  openAccess,
  reused,
  revocations,
  startOver,
} from './world.ts'

const after = (answer: Faults['token']): Partial<Faults> => ({ refresh: { when: 'after', answer } })
const before = (answer: Faults['token']): Partial<Faults> => ({
  refresh: { when: 'before', answer },
})

t.test('a response lost after rotation: sign in again, no second use of the token', async (t) => {
  const rows: [string, Partial<Faults>, string][] = [
    ['broken off', after('reset'), 'answer-lost'],
    ['never answered', after('hang'), 'answer-lost'],
    ['endless', after('endless'), 'answer-lost'],
    ['a gateway gave up waiting', after({ status: 504 }), 'answer-lost'],
    ['no JSON', after({ body: '<html>' }), 'answer-lost'],
    ['another type', after({ headers: { 'content-type': 'text/html' } }), 'answer-lost'],
    ['redirected', after({ status: 307, headers: { location: '/x' } }), 'answer-lost'],
    ['no access token', { refreshBody: { access_token: undefined } }, 'answer-lost'],
    ['token type mac', { refreshBody: { token_type: 'mac' } }, 'answer-lost'],
    ['token type dpop', { refreshBody: { token_type: 'DPoP' } }, 'answer-lost'],
    ['R2 another issuer', { refreshClaims: { iss: 'http://x1' } }, 'id-token-changed'],
    ['R3 another subject', { refreshClaims: { sub: 'subject-11' } }, 'id-token-changed'],
    ['another audience', { refreshClaims: { aud: 'other' } }, 'id-token-changed'],
    ['a second audience', { refreshClaims: { aud: ['gatehouse', 'x'] } }, 'id-token-changed'],
    ['another azp', { refreshClaims: { azp: 'other' } }, 'id-token-changed'],
    ['expired', { refreshClaims: { exp: 1 } }, 'id-token-changed'],
    ['signature', { refreshClaims: {}, corruptSignature: true }, 'id-token-changed'],
    ['alg none', { refreshClaims: {}, header: { alg: 'none' } }, 'id-token-changed'],
    ['at_hash', { refreshClaims: { at_hash: 'x' } }, 'id-token-changed'],
    ['no JWT', { refreshBody: { id_token: 'x' } }, 'id-token-changed'],
    [
      'used elsewhere',
      before({ status: 400, body: '{"error":"invalid_grant"}' }),
      'refresh-rejected',
    ],
    ['consent', before({ status: 400, body: '{"error":"consent_required"}' }), 'refresh-rejected'],
  ]
  const world = await createWorld(t)
  for (const [name, fault, reason] of rows) {
    await startOver(world)
    await grantTokens(world)
    world.op.fault = fault
    const access = openAccess(t, world)
    t.same(await access.accessToken(identity), { kind: 'needs-sign-in' }, name)
    const sent = world.op.calls.token
    world.op.fault = { offline: true }
    t.same(await access.accessToken(identity), { kind: 'needs-sign-in' }, `${name}: permanently`)
    t.equal(world.op.calls.token, sent, `${name}: no further call`)
    t.match(await grantRow(world), { status: 'needs-sign-in', generation: 1 })
    t.same(await auditTrail(world), [`refresh-tokens refused ${reason}`])
    await grantTokens(world, 3_600)
    t.match(
      await access.accessToken(identity),
      { kind: 'token' },
      `${name}: until the next sign-in`,
    )
    t.same(await revocations(world), reason === 'refresh-rejected' ? [] : ['superseded'])
  }
})

t.test('a member of the refresh response that is not needed ends no grant', async (t) => {
  const members: [string, unknown[]][] = [
    ['refresh_token', [null, '', 7, ['x'], 'x\n']],
    ['expires_in', [null, '', 'soon', -1, [300]]],
    ['scope', [null, '', ['openid'], 7, 'openid\0']],
    ['id_token', [null, '', 7]],
    ['token_type', ['BEARER', null, '', undefined]],
    ['unknown', [null]],
  ]
  const world = await createWorld(t)
  for (const [member, values] of members) {
    for (const value of values) {
      const name = `${member}: ${JSON.stringify(value)}`
      await startOver(world)
      await grantTokens(world)
      const access = openAccess(t, world)
      world.op.fault = { offline: true, refreshBody: { [member]: value } }
      const got = await access.accessToken(identity)
      t.match(got, { kind: 'token', accessToken: world.op.records.accessTokens.at(-1) }, name)
      t.match(await grantRow(world), { status: 'active', generation: 2 }, name)
    }
  }
})

t.test('provider down or client refused: unavailable; the token is kept', async (t) => {
  const rows: [string, Partial<Faults>][] = [
    ['500', before({ status: 500 })],
    ['503', before({ status: 503, headers: { 'retry-after': '7' } })],
    ['429', before({ status: 429 })],
    ['another error', before({ status: 400, body: '{"error":"invalid_request"}' })],
    ['client unknown', { secrets: [] }],
  ]
  const world = await createWorld(t)
  for (const [name, fault] of rows) {
    await startOver(world)
    await grantTokens(world)
    const access = openAccess(t, world)
    world.op.fault = fault
    const got = await access.accessToken(identity)
    t.match(got, { kind: 'unavailable', retryAfterSeconds: name === '503' ? 7 : Number }, name)
    t.match(await grantRow(world), { status: 'active', refresh_attempt: null })
    world.op.fault = { offline: true }
    t.match(await access.accessToken(identity), { kind: 'token' }, `${name}: then it succeeds`)
  }
})

t.test('the token is not sent to a provider that cannot be reached', async (t) => {
  const world = await createWorld(t)
  await grantTokens(world)
  const access = openAccess(t, world)
  world.op.fault = { metadataAnswer: 'hang' }
  t.match(await access.accessToken(identity), { kind: 'unavailable' })
  t.equal(world.op.records.presented.length, 0)
  t.match(await grantRow(world), { status: 'active', refresh_attempt: null })
  await world.op.close()
  t.match(await openAccess(t, world).accessToken(identity), { kind: 'unavailable' })
  t.match(await grantRow(world), { status: 'active', refresh_attempt: null })
})

for (const [step, next, presented] of [
  ['locked', 'token', 1],
  ['marked', 'needs-sign-in', 0],
  ['answered', 'needs-sign-in', 1],
  ['stored', 'token', 1],
] as const) {
  t.test(`kill -9 when ${step}: a used token is never sent again`, async (t) => {
    const world = await createWorld(t)
    await grantTokens(world, 0)
    const child = await askInChild(t, world, step)
    await child.ended
    t.equal(child.child.signalCode, 'SIGKILL')
    const access = openAccess(t, world)
    const got = await Promise.all([1, 2, 3].map(() => access.accessToken(identity)))
    t.same(
      got.map(({ kind }) => kind),
      [next, next, next],
    )
    t.equal(world.op.records.presented.length, presented)
    t.same(reused(world), [])
    await grantTokens(world, 0)
    t.match(await access.accessToken(identity), { kind: 'token' }, 'until the next sign-in')
  })
}

t.test('a broken database connection during a refresh loses no token', async (t) => {
  const world = await createWorld(t)
  await grantTokens(world)
  world.op.records.duringRefresh = () =>
    world.database.admin.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND state = 'idle in transaction'`,
    )
  const access = openAccess(t, world)
  t.match(await access.accessToken(identity), { accessToken: world.op.records.accessTokens[1] })
  t.match(await grantRow(world), { status: 'active', generation: 2, refresh_attempt: null })
})

t.test('a process that lost its lock during a refresh still stores the new tokens', async (t) => {
  const world = await createWorld(t)
  await grantTokens(world)
  const other = openAccess(t, world)
  let concurrent: unknown
  world.op.records.duringRefresh = async () => {
    world.op.records.duringRefresh = undefined
    await world.database.admin.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND state = 'idle in transaction'`,
    )
    concurrent = await other.accessToken(identity)
  }
  const got = await openAccess(t, world).accessToken(identity)
  t.same(concurrent, { kind: 'needs-sign-in' }, 'the other process never sends the token')
  t.match(got, { kind: 'token', accessToken: world.op.records.accessTokens[1] })
  t.same(await other.accessToken(identity), got)
  t.equal(world.op.records.presented.length, 1)
})
