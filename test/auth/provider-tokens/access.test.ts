import t from 'tap'
import { decideAccess } from '#src/auth/provider-tokens/access.ts'
import type { Grant } from '#src/auth/provider-tokens/store.ts'
import { auditTrail } from '#test/support/sign-in-journey.ts'
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

t.test('what can be done with a grant: every combination', async (t) => {
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
  const rows: [Partial<Grant>, number | null, string][] = [
    [{}, null, 'hand-out'],
    [{}, 6, 'hand-out'],
    [{}, 7, 'refresh'],
    [{ refreshAttempt }, null, 'hand-out'],
    [{ refreshAttempt }, 7, 'lost'],
    [{ fresh: false }, null, 'refresh'],
    [{ fresh: false, refreshAttempt }, null, 'lost'],
    [{ fresh: false, refreshToken: null }, null, 'needs-sign-in'],
    [{ refreshToken: null }, null, 'hand-out'],
    [{ refreshToken: null }, 7, 'needs-sign-in'],
    [{ status: 'needs-sign-in' }, null, 'needs-sign-in'],
    [{ status: 'needs-sign-in', refreshAttempt, fresh: false }, 7, 'needs-sign-in'],
  ]
  for (const [change, rejected, decision] of rows) {
    t.equal(decideAccess({ ...grant, ...change }, rejected), decision, JSON.stringify(change))
  }
})

t.test('R1 a token near its end is refreshed, rotated and used', async (t) => {
  const world = await createWorld(t)
  await grantTokens(world)
  world.op.fault = { offline: true, refreshClaims: {} }
  const before = await grantRow(world)
  const access = openAccess(t, world)
  const got = await access.accessToken(identity)
  t.match(got, { kind: 'token', accessToken: world.op.desk.accessTokens[1], generation: 2 })
  t.match(await access.accessToken(identity), { generation: 2 }, 'and kept')
  t.same(world.op.desk.presented, [world.op.desk.refreshTokens[0]])
  const after = await grantRow(world)
  t.notSame(after?.refresh_token, before?.refresh_token, 'the new one is stored, the old one gone')
  t.equal(after?.refresh_attempt, null)
  await expire(world)
  t.match(await access.accessToken(identity), { generation: 3 })
  t.same(world.op.desk.presented, world.op.desk.refreshTokens.slice(0, 2))
  const sent = world.op.requests.filter(({ url }) => url === '/token').at(-1)
  t.notMatch(sent?.body.toString(), /scope=/, 'no scope is ever asked for')
  t.match(await auditTrail(world), ['refresh-tokens done refreshed', /refreshed/])
})

t.test('a good token is handed out without a call; a refused one is renewed', async (t) => {
  const world = await createWorld(t)
  await grantTokens(world, 3_600)
  const access = openAccess(t, world)
  t.match(await access.accessToken(identity), { kind: 'token', generation: 1 })
  t.equal(world.op.desk.presented.length, 0)
  t.match(await access.accessToken(identity, 1), { kind: 'token', generation: 2 })
  t.match(await access.accessToken(identity, 1), { generation: 2 }, 'renewed once for that token')
  t.equal(world.op.desk.presented.length, 1)
})

t.test('an identity without a grant gets none', async (t) => {
  const world = await createWorld(t)
  const access = openAccess(t, world)
  t.same(await access.accessToken(identity), { kind: 'none' })
  await grantTokens(world)
  t.same(await access.accessToken({ ...identity, subject: 'subject-2' }), { kind: 'none' })
})

t.test('an answer without a refresh token keeps the old one', async (t) => {
  const world = await createWorld(t)
  await grantTokens(world)
  world.op.fault = { keepsRefreshToken: true }
  const access = openAccess(t, world)
  t.match(await access.accessToken(identity), { kind: 'token' })
  await expire(world)
  t.match(await access.accessToken(identity), { kind: 'token', generation: 3 })
  t.equal(new Set(world.op.desk.presented).size, 1)
})

t.test('granted scopes: narrower is kept, wider never comes in', async (t) => {
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
  for (const round of [2, 3, 4]) {
    await expire(world)
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, index) => processes[index % 2]?.accessToken(identity)),
    )
    t.ok(
      results.every((result) => result?.kind === 'token' && result.generation === round),
      `round ${round}: everyone gets the same new token`,
    )
  }
  t.equal(world.op.desk.presented.length, 3)
  t.same(reused(world), [])
})

t.test('real processes: the provider sees each refresh token once', async (t) => {
  const world = await createWorld(t)
  await grantTokens(world)
  const children = await Promise.all([1, 2, 3].map(() => askInChild(t, world, 'never', 20)))
  t.same(await Promise.all(children.map(({ ended }) => ended)), [0, 0, 0])
  const lines = children.flatMap((child) => child.output().trim().split('\n'))
  t.equal(lines.length, 60)
  t.same(new Set(lines), new Set([`token ${world.op.desk.accessTokens[1]}`]))
  t.equal(world.op.desk.presented.length, 1)
})
