import { Signer } from '@fastify/cookie'
import Fastify, { type FastifyInstance } from 'fastify'
import { parseList } from 'structured-headers'
import t, { type Test } from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import errors from '#plugins/http/errors.ts'
import rateLimit, { rateLimitStore as limitStore } from '#plugins/limits/rate-limit.ts'
import { newAnonymousId } from '#src/auth/sessions/session-id.ts'
import { randomApiToken } from '#src/crypto/api-token.ts'
import { sha256 } from '#src/crypto/hash.ts'
import { Problem } from '#src/http/problems.ts'
import { fakeSession } from '#test/plugins/neighbours.ts'
import { build as buildServer, type TestApp } from '#test/support/app/app.ts'

const limit = { max: 2, seconds: 60 }

type Limit = Omit<Parameters<typeof rateLimit>[1], 'name'>

async function build(t: Test, options: Limit): Promise<FastifyInstance> {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(errors)
  await app.register(limitStore, { redisUrl: null })
  await app.register(async function limited(app) {
    await app.register(fakeSession())
    await app.register(rateLimit, { name: 'api', ...options })
    app.addHook('onRequest', async function requireCaller(request) {
      const name = String(request.headers['x-caller'])
      if (name === 'nobody' || name.startsWith('dead')) throw new Problem('unauthenticated')
    })
    // As plugins/access/authz.ts does it.
    app.setErrorHandler(async function countDead(error, request) {
      const isRefused = error instanceof Problem && error.code === 'unauthenticated'
      if (isRefused && request.credential !== null) await request.countDeadCredential?.()
      throw error
    })
    app.get('/', async () => 'done')
    app.get('/other', async () => 'done')
  })
  app.get('/outside', async () => 'done')
  return app
}

/** The statuses of sequential requests. */
async function statuses(app: FastifyInstance, requests: readonly [string, string?][]) {
  const answers: number[] = []
  for (const [remoteAddress, caller] of requests) {
    const headers = caller === undefined ? {} : { 'x-caller': caller }
    answers.push((await app.inject({ url: '/', remoteAddress, headers })).statusCode)
  }
  return answers
}

t.test('a request above the limit is 429 with Retry-After and a problem body', async (t) => {
  const app = await build(t, { limit, by: 'address' })
  t.same(await statuses(app, [['192.0.2.1'], ['192.0.2.1']]), [200, 200])
  const refused = await app.inject({ url: '/', remoteAddress: '192.0.2.1' })
  t.equal(refused.statusCode, 429)
  const wait = Number(refused.headers['retry-after'])
  t.ok(wait > 0 && wait <= limit.seconds, `Retry-After is ${wait}`)
  t.match(refused.headers['content-type'], /^application\/problem\+json/)
  t.match(refused.json(), {
    type: '/docs/errors/too-many-requests',
    title: 'Too many requests',
    status: 429,
    detail: `The rate limit "api" is reached, of ${limit.max} requests in ${limit.seconds} s, as RateLimit-Policy says.`,
    instance: String,
  })
})

t.test('every address has its own count, over all routes of the scope', async (t) => {
  const app = await build(t, { limit, by: 'address' })
  t.same(await statuses(app, [['192.0.2.1'], ['192.0.2.1'], ['192.0.2.2']]), [200, 200, 200])
  const other = await app.inject({ url: '/other', remoteAddress: '192.0.2.1' })
  t.equal(other.statusCode, 429)
  const outside = await app.inject({ url: '/outside', remoteAddress: '192.0.2.1' })
  t.equal(outside.statusCode, 200, 'a route outside the scope is not limited')
})

t.test('a session does not avoid the limit per address', async (t) => {
  const app = await build(t, { limit, by: 'address' })
  const all: [string, string][] = [
    ['192.0.2.1', 'ada'],
    ['192.0.2.1', 'bob'],
    ['192.0.2.1', 'ada'],
  ]
  t.same(await statuses(app, all), [200, 200, 429])
})

t.test('all IPv6 addresses of a /64 share one count', async (t) => {
  const app = await build(t, { limit, by: 'address' })
  const all: [string][] = [['2001:db8::1'], ['2001:db8::2'], ['2001:db8::3'], ['2001:db8:0:1::1']]
  t.same(await statuses(app, all), [200, 200, 429, 200])
})

t.test('per session: independent of the address, and separate from other sessions', async (t) => {
  const app = await build(t, { limit, by: 'session' })
  const all: [string, string][] = [
    ['192.0.2.1', 'ada'],
    ['192.0.2.2', 'ada'],
    ['192.0.2.3', 'ada'],
    ['192.0.2.1', 'bob'],
  ]
  t.same(await statuses(app, all), [200, 200, 429, 200])
})

t.test('without a session the limit is per address, and applies before the 401', async (t) => {
  const app = await build(t, { limit, by: 'session' })
  const all: [string, string][] = [
    ['192.0.2.1', 'nobody'],
    ['192.0.2.1', 'nobody'],
    ['192.0.2.1', 'nobody'],
    ['192.0.2.2', 'nobody'],
  ]
  t.same(await statuses(app, all), [401, 401, 429, 401])
})

t.test('credentials that are not live count for their address', async (t) => {
  const app = await build(t, { limit, by: 'session' })
  const all: [string, string][] = [
    ['192.0.2.1', 'dead token 1'],
    ['192.0.2.1', 'dead session 2'],
    ['192.0.2.1', 'dead token 3'],
    ['192.0.2.1', 'dead token 4'],
    ['192.0.2.1', 'a token'],
    ['192.0.2.1', 'ada'],
    ['192.0.2.2', 'dead token 5'],
    ['192.0.2.2', 'a token'],
  ]
  t.same(
    await statuses(app, all),
    [401, 401, 401, 429, 429, 200, 401, 200],
    'no token is looked up for that address any more; a session needs our signature',
  )
  const refused = await app.inject({
    url: '/',
    remoteAddress: '192.0.2.1',
    headers: { 'x-caller': 'dead token 6' },
  })
  const wait = Number(refused.headers['retry-after'])
  t.ok(wait > 0 && wait <= limit.seconds, `Retry-After is ${wait}`)
})

t.test('live credentials do not count for their address', async (t) => {
  const app = await build(t, { limit, by: 'session' })
  const all: [string, string][] = [1, 2, 3, 4].map((n) => ['192.0.2.1', `token ${n}`])
  t.same(await statuses(app, all), [200, 200, 200, 200])
})

t.test('made-up tokens do not escape the limit of their address', async (t) => {
  const { app } = await buildServer(t, { RATE_LIMIT_API: '2/60' })
  const statuses: number[] = []
  for (let sent = 0; sent < 5; sent += 1) {
    const authorization = `Bearer ${randomApiToken()}`
    statuses.push((await app.inject({ url: '/me', headers: { authorization } })).statusCode)
  }
  t.same(statuses, [401, 401, 401, 429, 429])
})

t.test('browsers that have not signed in count for their address', async (t) => {
  const test = await buildServer(t, { RATE_LIMIT_API: '3/60' })
  const cookies = [1, 2, 3, 4, 5].map(() => cookieOf(test, newAnonymousId()))
  t.same(await statusesOf(test, cookies), [401, 401, 401, 429, 429])
  const { cookie } = await signIn(test, await createUser(test.database))
  t.same(await statusesOf(test, [cookie, cookie]), [200, 200], 'a person has their own count')
})

t.test('sessions that are over count for their address, again and again', async (t) => {
  const test = await buildServer(t, { RATE_LIMIT_API: '3/60' })
  const user = await createUser(test.database)
  const first = await signIn(test, user)
  const second = await signIn(test, user)
  await test.database.admin.query('DELETE FROM sessions')
  const live = await signIn(test, user)
  const over = [first.cookie, second.cookie]
  t.same(await statusesOf(test, [...over, ...over, ...over]), [401, 401, 401, 429, 429, 429])
  t.same(await statusesOf(test, [live.cookie]), [200])
})

t.test('a cookie is refused unasked once every session with its id is over', async (t) => {
  const test = await buildServer(t)
  const user = await createUser(test.database)
  const { absoluteSeconds } = test.config.session
  const agedId = (seconds: number) =>
    `p${Math.floor(Date.now() / 1_000 - seconds).toString(36)}-${'x'.repeat(43)}`
  for (const [age, status] of [
    [absoluteSeconds + 600, 401],
    [absoluteSeconds - 600, 200],
  ] as const) {
    const id = agedId(age)
    // Live for the database, which is not asked.
    await test.database.admin.query(
      `INSERT INTO sessions (id_hash, user_id, tenant_id, provider, authenticated_at, expires_at)
       VALUES ($1, $2, $3, 'demo', now(), now() + interval '1 day')`,
      [sha256(sha256(id)), user.userId, user.tenantId],
    )
    t.same(await statusesOf(test, [cookieOf(test, id)]), [status], `${age} s`)
  }
})

t.test('scopes with one limit share its counts without Redis too', async (t) => {
  const test = await buildServer(t, { RATE_LIMIT_API: '3/60' })
  const { cookie } = await signIn(test, await createUser(test.database))
  const statuses: number[] = []
  for (const url of ['/orders', '/', '/app/account', '/orders', '/', '/app/account']) {
    statuses.push((await test.app.inject({ url, headers: { cookie } })).statusCode)
  }
  t.same(statuses, [200, 200, 200, 429, 429, 429])
})

/** The cookie of an id, as the program signs it. */
function cookieOf({ config }: TestApp, id: string): string {
  return `sid=${new Signer([...config.session.secrets]).sign(id)}`
}

/** The statuses of sequential requests from one address. */
async function statusesOf({ app }: TestApp, cookies: readonly string[]): Promise<number[]> {
  const answers: number[] = []
  for (const cookie of cookies) {
    answers.push((await app.inject({ url: '/me', headers: { cookie } })).statusCode)
  }
  return answers
}

t.test('a rejected credential counts for its address, and not for the session', async (t) => {
  const test = await buildServer(t, { RATE_LIMIT_API: '3/60' })
  const { cookie } = await signIn(test, await createUser(test.database))
  const authorization = `Bearer ${randomApiToken()}`
  const kinds: Record<string, [Record<string, string>, number]> = {
    'not a token': [{ authorization: 'Bearer x' }, 401],
    'a token beside a cookie': [{ authorization, cookie }, 400],
    'a session from another site': [{ cookie, 'sec-fetch-site': 'cross-site' }, 403],
  }
  for (const [index, [name, [headers, status]]] of Object.entries(kinds).entries()) {
    const remoteAddress = `192.0.2.${index + 1}`
    const send = () =>
      test.app.inject({ method: 'POST', url: '/orders', headers, remoteAddress, payload: {} })
    const answers = [await send(), await send(), await send(), await send()]
    t.same(
      answers.map(({ statusCode }) => statusCode),
      [status, status, status, 429],
      name,
    )
    const own = await test.app.inject({ url: '/me', headers: { cookie }, remoteAddress })
    t.equal(own.statusCode, 200, 'the session itself has its own count')
  }
})

t.test('off disables the limit', async (t) => {
  const app = await build(t, { limit: 'off', by: 'address' })
  t.same(await statuses(app, [['192.0.2.1'], ['192.0.2.1'], ['192.0.2.1']]), [200, 200, 200])
})

t.test('a nested rate limit prevents the start', async (t) => {
  const app = Fastify()
  await app.register(limitStore, { redisUrl: null })
  await app.register(rateLimit, { name: 'api', limit, by: 'address' })
  const nested = app.register(async function inner(app) {
    await app.register(rateLimit, { name: 'api', limit, by: 'session' })
  })
  await t.rejects(Promise.resolve(nested), /Rate-limited scopes must not be nested/)
})

/** `RateLimit` or `RateLimit-Policy` as an independent parser of structured fields reads it. */
function readItems(header: unknown): Record<string, unknown>[] {
  return parseList(String(header)).map(([name, parameters]) => ({
    name,
    ...Object.fromEntries(parameters),
  }))
}

t.test('every response has the policy and what is left of it as structured fields', async (t) => {
  const app = await build(t, { limit, by: 'address' })
  for (const left of [1, 0, 0]) {
    const { headers } = await app.inject({ url: '/', remoteAddress: '192.0.2.9' })
    t.same(readItems(headers['ratelimit-policy']), [{ name: 'api', q: 2, w: 60 }])
    const [item = {}] = readItems(headers.ratelimit)
    t.match(item, { name: 'api', r: left })
    const wait = Number(item.t)
    t.ok(Number.isInteger(wait) && wait > 0 && wait <= limit.seconds, `${wait} s`)
    t.notOk('x-ratelimit-limit' in headers)
  }
  const outside = await app.inject('/outside')
  t.notOk('ratelimit' in outside.headers)
})

t.test('two limits are two items', async (t) => {
  const test = await buildServer(t, { RATE_LIMIT_SIGN_IN: '5/60' })
  const { cookie } = await signIn(test, await createUser(test.database))
  const { headers } = await test.app.inject({ url: '/auth/signed-out', headers: { cookie } })
  t.same(readItems(headers['ratelimit-policy']), [
    { name: 'sign-in', q: 5, w: 60 },
    { name: 'sign-in-session', q: 5, w: 60 },
  ])
  t.match(readItems(headers.ratelimit), [{ name: 'sign-in' }, { name: 'sign-in-session' }])
})

t.test('an address whose tokens are refused has nothing left', async (t) => {
  const app = await build(t, { limit: { max: 1, seconds: 60 }, by: 'session' })
  const send = (caller: string) =>
    app.inject({ url: '/', remoteAddress: '192.0.2.1', headers: { 'x-caller': caller } })
  await send('dead token 1')
  await send('dead token 2')
  const refused = await send('a token')
  t.equal(refused.statusCode, 429)
  t.match(readItems(refused.headers.ratelimit), [{ name: 'api', r: 0 }])
})
