import t from 'tap'
import { decideAccess } from '#src/auth/provider-tokens/access.ts'
import type { Grant } from '#src/auth/provider-tokens/store.ts'
import { auditTrail } from '#test/support/provider/sign-in-journey.ts'
import {
  askInChild,
  createWorld,
  expire,
  grantRow,
  grantTokens,
  identity,
  openAccess,
  reused,
} from './world.ts'

t.test(
  'every combination of a grant: return its token, refresh, lost, sign in again',
  async (t) => {
    const grant: Grant = {
      userId: 1,
      accessToken: Buffer.alloc(1),
      refreshToken: Buffer.alloc(1),
      scope: 'openid',
      expiresAt: null,
      generation: 7,
      status: 'active',
      refreshAttempt: null,
      fresh: true,
    }
    const refreshAttempt = 'x'
    const rows: [Partial<Grant>, string][] = [
      [{}, 'return'],
      [{ refreshAttempt }, 'return'],
      [{ refreshToken: null }, 'return'],
      [{ fresh: false }, 'refresh'],
      [{ fresh: false, refreshAttempt }, 'lost'],
      [{ fresh: false, refreshToken: null }, 'needs-sign-in'],
      [{ status: 'needs-sign-in' }, 'needs-sign-in'],
      [{ status: 'needs-sign-in', refreshAttempt, fresh: false }, 'needs-sign-in'],
    ]
    for (const [change, decision] of rows) {
      t.equal(decideAccess({ ...grant, ...change }, 7), decision, JSON.stringify(change))
    }
    const renewed = { ...grant, fresh: false, generation: 8 }
    t.equal(decideAccess(renewed, 7), 'return', 'what was just refreshed is not refreshed again')
    t.equal(decideAccess({ ...renewed, status: 'needs-sign-in' }, 7), 'needs-sign-in')
  },
)

t.test('R1 a token that expires soon is refreshed, rotated and used', async (t) => {
  const world = await createWorld(t)
  await grantTokens(world)
  world.op.fault = { offline: true, refreshClaims: {} }
  const before = await grantRow(world)
  const access = openAccess(t, world)
  const got = await access.accessToken(identity)
  t.match(got, { kind: 'token', accessToken: world.op.records.accessTokens[1] })
  t.same(await access.accessToken(identity), got, 'the new token is stored')
  t.same(world.op.records.presented, [world.op.records.refreshTokens[0]])
  const after = await grantRow(world)
  t.notSame(after?.refresh_token, before?.refresh_token, 'the new refresh token replaces the old')
  t.equal(after?.refresh_attempt, null)
  await expire(world)
  t.match(await access.accessToken(identity), { accessToken: world.op.records.accessTokens[2] })
  t.same(world.op.records.presented, world.op.records.refreshTokens.slice(0, 2))
  const sent = world.op.requests.filter(({ url }) => url === '/token').at(-1)
  t.notMatch(sent?.body.toString(), /scope=/, 'no scope is requested')
  t.match(await auditTrail(world), ['refresh-tokens done refreshed', /refreshed/])
})

t.test('a valid token is returned without a call', async (t) => {
  const world = await createWorld(t)
  await grantTokens(world, 3_600)
  const access = openAccess(t, world)
  const [accessToken] = world.op.records.accessTokens
  t.match(await access.accessToken(identity), { kind: 'token', accessToken })
  t.equal(world.op.records.presented.length, 0)
})

t.test('a token that lives a minute or less is used for half of its life', async (t) => {
  const world = await createWorld(t)
  await grantTokens(world)
  world.op.fault = { refreshBody: { expires_in: 60 } }
  const access = openAccess(t, world)
  const accessToken = () => access.accessToken(identity)
  const got = await accessToken()
  t.match(got, { kind: 'token', accessToken: world.op.records.accessTokens[1] })
  t.same(await accessToken(), got)
  t.same(await accessToken(), got)
  t.equal(world.op.records.presented.length, 1, 'three calls spend one refresh token')
  const aged = (seconds: number) =>
    world.database.admin.query(
      `UPDATE provider_grants SET issued_at = issued_at - make_interval(secs => $1),
         expires_at = expires_at - make_interval(secs => $1)`,
      [seconds],
    )
  await aged(25)
  const [, second] = world.op.records.accessTokens
  t.match(await accessToken(), { accessToken: second }, 'before half of its life')
  await aged(10)
  t.match(await accessToken(), { accessToken: world.op.records.accessTokens[2] }, 'after it')
})

t.test('a token that has expired on arrival is returned once', async (t) => {
  const world = await createWorld(t)
  await grantTokens(world)
  world.op.fault = { refreshBody: { expires_in: 0 } }
  const got = await openAccess(t, world).accessToken(identity)
  t.match(got, { kind: 'token', accessToken: world.op.records.accessTokens[1] })
  t.equal(world.op.records.presented.length, 1)
})

t.test('an identity without a grant has no token', async (t) => {
  const world = await createWorld(t)
  const access = openAccess(t, world)
  t.same(await access.accessToken(identity), { kind: 'none' })
  await grantTokens(world)
  t.same(await access.accessToken({ ...identity, subject: 'subject-2' }), { kind: 'none' })
})

t.test('a response without a refresh token keeps the old one', async (t) => {
  const world = await createWorld(t)
  await grantTokens(world)
  world.op.fault = { keepsRefreshToken: true }
  const access = openAccess(t, world)
  t.match(await access.accessToken(identity), { kind: 'token' })
  await expire(world)
  t.match(await access.accessToken(identity), { accessToken: world.op.records.accessTokens[2] })
  t.equal(new Set(world.op.records.presented).size, 1)
})

t.test('a refresh can narrow the granted scope and cannot widen it', async (t) => {
  const world = await createWorld(t)
  await grantTokens(world)
  const access = openAccess(t, world)
  world.op.fault = { refreshBody: { scope: 'openid files admin' } }
  t.match(await access.accessToken(identity), { kind: 'token', scope: /^openid files$/ })
  await expire(world)
  world.op.fault = { refreshBody: { scope: 'openid' } }
  t.match(await access.accessToken(identity), { kind: 'token', scope: /^openid$/ })
})

t.test('two processes and many requests: the provider sees each refresh token once', async (t) => {
  const world = await createWorld(t)
  await grantTokens(world)
  const processes = [openAccess(t, world), openAccess(t, world)]
  for (const round of [1, 2, 3]) {
    await expire(world)
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, index) => processes[index % 2]?.accessToken(identity)),
    )
    const accessToken = world.op.records.accessTokens[round]
    t.ok(
      results.every((result) => result?.kind === 'token' && result.accessToken === accessToken),
      `round ${round}: every request gets the same new token`,
    )
  }
  t.equal(world.op.records.presented.length, 3)
  t.same(reused(world), [])
})

t.test('real processes: the provider sees each refresh token once', async (t) => {
  const world = await createWorld(t)
  await grantTokens(world)
  const children = await Promise.all([1, 2, 3].map(() => askInChild(t, world, 'never', 20)))
  t.same(await Promise.all(children.map(({ ended }) => ended)), [0, 0, 0])
  const lines = children.flatMap((child) => child.results().trim().split('\n'))
  t.equal(lines.length, 60)
  t.same(new Set(lines), new Set([`token ${world.op.records.accessTokens[1]}`]))
  t.equal(world.op.records.presented.length, 1)
})
