import Fastify from 'fastify'
import t, { type Test } from 'tap'
import authz from '#plugins/authz.ts'
import errors from '#plugins/errors.ts'
import type { Caller } from '#src/auth/sessions/caller.ts'
import { createLogger } from '#src/observability/logger.ts'
import { aCaller, fakeSession, neighbour } from './neighbours.ts'

/** A caller whose every member throws, to make a decision fail. */
const unreadable = new Proxy(aCaller({ role: 'admin' }), {
  get(target, property) {
    if (property === 'tenantId' || property === 'role') throw new Error('facts out of reach')
    return Reflect.get(target, property)
  },
})

const callers: Record<string, Caller> = {
  member: aCaller(),
  admin: aCaller({ role: 'admin' }),
  homeless: aCaller({ tenantId: null, role: null }),
  unreadable,
  'token, unlimited': aCaller({ sessionId: null, tokenId: 'token', authenticatedSecondsAgo: null }),
  'token, limited': aCaller({
    sessionId: null,
    tokenId: 'token',
    tokenPermissions: ['order:read'],
    authenticatedSecondsAgo: null,
  }),
  'authenticated 299 s ago': aCaller({ authenticatedSecondsAgo: 299 }),
  'authenticated 300 s ago': aCaller({ authenticatedSecondsAgo: 300 }),
  'authenticated 301 s ago': aCaller({ authenticatedSecondsAgo: 301 }),
  'never authenticated': aCaller({ authenticatedSecondsAgo: null }),
}

async function build(t: Test) {
  const log: string[] = []
  const app = Fastify({
    loggerInstance: createLogger('trace', { write: (line) => void log.push(line) }),
    disableRequestLogging: true,
  })
  t.teardown(() => app.close())
  await app.register(errors)
  for (const name of ['require-access', 'api-token']) await app.register(neighbour(name))
  await app.register(fakeSession(callers))
  await app.register(authz)
  app.get(
    '/own',
    { config: { access: { resource: 'order', action: 'read' } } },
    async (request) => ({
      owner: request.ownerScope,
    }),
  )
  app.get(
    '/tenant',
    { config: { access: { resource: 'invoice', action: 'read' } } },
    async () => 'done',
  )
  app.get(
    '/signed-in',
    { config: { access: 'signed-in' } },
    async (request) => request.caller.userId,
  )
  app.get('/session', { config: { access: 'session' } }, async (request) => request.sessionCaller)
  app.get('/recent', { config: { access: 'recent-session' } }, async () => 'done')
  app.get('/signed-in/session', { config: { access: 'signed-in' } }, (request) => {
    return request.sessionCaller
  })
  app.get('/public', { config: { access: 'public' } }, async () => 'done')
  app.get('/silent', async () => 'done')
  app.get(
    '/no-rule',
    { config: { access: { resource: 'order', action: 'explode' as never } } },
    () => '',
  )
  app.post('/signed-in', { config: { access: 'signed-in' } }, async () => 'done')
  const get = async (url: string, caller: string) =>
    app.inject({ url, headers: { 'x-caller': caller } })
  return { app, get, log }
}

t.test('without a credential every route is 401, whatever access it states', async (t) => {
  const { get } = await build(t)
  for (const url of ['/own', '/tenant', '/signed-in', '/public', '/silent', '/no-rule']) {
    const answer = await get(url, 'nobody')
    t.equal(answer.statusCode, 401, url)
    t.match(answer.json(), { type: 'urn:gatehouse:problem:unauthenticated' }, url)
  }
})

t.test('reading the caller without a credential is a 401', async (t) => {
  const { app, get } = await build(t)
  const told: unknown[] = []
  app.addHook('onResponse', async (request) => {
    for (const name of ['caller', 'sessionCaller', 'ownerScope'] as const) {
      try {
        told.push(request[name])
      } catch (error) {
        told.push(error)
      }
    }
  })
  await get('/signed-in', 'nobody')
  t.match(told, Array(3).fill({ code: 'unauthenticated' }))
})

t.test('the credential is required before the body is read', async (t) => {
  const { app } = await build(t)
  const answer = await app.inject({
    method: 'POST',
    url: '/signed-in',
    headers: { 'content-type': 'application/json' },
    payload: '{broken',
  })
  t.equal(answer.statusCode, 401)
})

t.test('an explicit allow passes', async (t) => {
  const { get } = await build(t)
  for (const url of ['/own', '/tenant', '/signed-in']) {
    t.equal((await get(url, 'admin')).statusCode, 200, url)
  }
})

t.test('a route without a rule is refused: only an explicit allow passes', async (t) => {
  const { get, log } = await build(t)
  for (const url of ['/public', '/silent', '/no-rule']) {
    t.equal((await get(url, 'admin')).statusCode, 403, url)
  }
  t.match(log.join(''), /"reason":"no-rule"/)
})

t.test('a tenant rule is refused to a caller without a tenant', async (t) => {
  const { get } = await build(t)
  t.equal((await get('/tenant', 'homeless')).statusCode, 403)
  t.equal((await get('/own', 'homeless')).statusCode, 200)
})

t.test('an error while deciding is a refusal, and is logged', async (t) => {
  const { get, log } = await build(t)
  const answer = await get('/tenant', 'unreadable')
  t.equal(answer.statusCode, 403)
  t.notMatch(answer.body, /facts/)
  t.match(log.join(''), /the decision failed/)
  t.ok(log.some((line) => JSON.parse(line).level === 'error'))
})

t.test('a refusal is logged with its reason and ids only', async (t) => {
  const { get, log } = await build(t)
  await get('/tenant', 'homeless')
  const line = log.map((line) => JSON.parse(line)).find(({ msg }) => msg === 'refused')
  t.match(line, { reason: 'no-tenant', userId: 1 })
  t.notMatch(log.join(''), /ada@example\.com/)
})

t.test('owned objects are scoped by the user, and by the tenant if there is one', async (t) => {
  const { get } = await build(t)
  t.same((await get('/own', 'member')).json().owner, {
    userId: 1,
    tenantId: aCaller().tenantId,
  })
  t.same((await get('/own', 'homeless')).json().owner, { userId: 1 })
})

t.test('a token is refused on routes that require a session', async (t) => {
  const { get } = await build(t)
  for (const caller of ['token, unlimited', 'token, limited']) {
    t.equal((await get('/signed-in', caller)).statusCode, 200)
    for (const url of ['/session', '/recent', '/signed-in/session']) {
      const answer = await get(url, caller)
      t.equal(answer.statusCode, 403, `${caller} ${url}`)
      t.match(answer.json(), { type: 'urn:gatehouse:problem:session-required' })
    }
  }
  t.equal((await get('/own', 'token, limited')).statusCode, 200, 'what it names')
  t.equal((await get('/tenant', 'token, limited')).statusCode, 403, 'what it does not')
  t.equal((await get('/tenant', 'token, unlimited')).statusCode, 200)
})

t.test('recent means within five minutes, 300 seconds included', async (t) => {
  const { get } = await build(t)
  const statuses: Record<string, number> = {
    'authenticated 299 s ago': 200,
    'authenticated 300 s ago': 200,
    'authenticated 301 s ago': 403,
    'never authenticated': 403,
  }
  for (const [caller, status] of Object.entries(statuses)) {
    const answer = await get('/recent', caller)
    t.equal(answer.statusCode, status, caller)
    t.equal((await get('/session', caller)).statusCode, 200)
    if (status === 403) {
      t.match(answer.json(), { type: 'urn:gatehouse:problem:reauthentication-required' })
    }
  }
})

t.test('it needs a session and the access rule', async (t) => {
  for (const missing of ['session', 'require-access', 'api-token']) {
    const app = Fastify()
    if (missing !== 'session') await app.register(fakeSession(callers))
    for (const name of ['require-access', 'api-token']) {
      if (missing !== name) await app.register(neighbour(name))
    }
    await t.rejects(Promise.resolve(app.register(authz)), new RegExp(`'${missing}'`))
  }
})
