import Fastify from 'fastify'
import t, { type Test } from 'tap'
import authz from '#plugins/access/authz.ts'
import errors from '#plugins/http/errors.ts'
import type { Caller } from '#src/access/caller.ts'
import { Problem } from '#src/http/problems.ts'
import { createLogger } from '#src/observability/logger.ts'
import { aCaller, fakeDatabase, fakeSession, neighbour } from '#test/plugins/neighbours.ts'

/** A caller whose every member throws, to make a decision fail. */
const unreadable = new Proxy(aCaller({ role: 'admin' }), {
  get(target, property) {
    if (property === 'tenantId' || property === 'role') throw new Error('facts out of reach')
    return Reflect.get(target, property)
  },
})

function everyCaller(): Record<string, Caller> {
  const token = { sessionId: null, tokenId: 'token', authenticatedSecondsAgo: null }
  return {
    member: aCaller(),
    admin: aCaller({ role: 'admin' }),
    homeless: aCaller({ tenantId: null, role: null }),
    operator: aCaller({ operator: true }),
    unreadable,
    'token, unlimited': aCaller(token),
    'token, limited': aCaller({ ...token, tokenPermissions: ['order:read'] }),
    'authenticated 299 s ago': aCaller({ authenticatedSecondsAgo: 299 }),
    'authenticated 300 s ago': aCaller({ authenticatedSecondsAgo: 300 }),
    'authenticated 301 s ago': aCaller({ authenticatedSecondsAgo: 301 }),
    'never authenticated': aCaller({ authenticatedSecondsAgo: null }),
  }
}

const order = { access: { resource: 'order', action: 'read' } } as const
const profile = { access: { resource: 'profile', action: 'read' } } as const
const session = { access: { resource: 'session', action: 'read' } } as const
const recent = { access: { resource: 'identity', action: 'create' } } as const
const invoice = { access: { resource: 'invoice', action: 'read' } } as const
const billing = { access: { resource: 'billing-event', action: 'read' } } as const
const noRule = { access: { resource: 'order', action: 'explode' as never } } as const
const idParams = { type: 'object', properties: { id: { type: 'string', pattern: '^[0-9]+$' } } }
const noQuery = { type: 'object', additionalProperties: false }

async function build(t: Test) {
  const log: string[] = []
  const entered: string[] = []
  const callers = everyCaller()
  const app = Fastify({
    loggerInstance: createLogger('trace', { write: (line) => void log.push(line) }),
    disableRequestLogging: true,
    ajv: { customOptions: { removeAdditional: false } },
  })
  t.teardown(() => app.close())
  await app.register(errors)
  for (const name of ['require-access', 'credential']) await app.register(neighbour(name))
  await app.register(fakeDatabase(callers, entered))
  await app.register(fakeSession())
  app.addHook('onRequest', async function limitRate(request) {
    if (request.headers['x-limited'] === undefined) return
    throw new Problem('too-many-requests', { detail: 'A limit.', retryAfterSeconds: 1 })
  })
  await app.register(authz)

  app.get('/own', { config: order }, async ({ entry }) =>
    app.db.read(entry, async (_tx, { userId, tenantId }) => ({ userId, tenantId })),
  )
  app.get('/tenant', { config: invoice }, async (request) => (await request.enter()).userId)
  app.get('/signed-in', { config: profile }, async (request) => (await request.enter()).userId)
  app.get('/session', { config: session }, async ({ sessionEntry }) => app.db.read(sessionEntry))
  app.get('/recent', { config: recent }, async (request) => (await request.enter()).userId)
  app.get('/signed-in/session', { config: profile }, async ({ sessionEntry }) =>
    app.db.read(sessionEntry),
  )
  app.get('/operator', { config: billing }, async (request) => (await request.enter()).userId)
  app.get('/public', { config: { access: 'public' } }, async (request) => request.enter())
  app.get('/silent', async (request) => request.enter())
  app.get('/no-rule', { config: noRule }, async (request) => request.enter())
  app.get('/blind', { config: profile }, async () => 'done')
  app.get('/blind/400', { config: profile }, async (_, reply) => reply.code(400).send('no'))
  app.get('/blind/500', { config: profile }, async () => {
    throw new Error('broken before it entered')
  })
  app.get(
    '/tenant/:id',
    { config: invoice, schema: { params: idParams, querystring: noQuery } },
    async (request) => {
      if (request.headers['x-malformed'] !== undefined) throw new Problem('malformed')
      await request.enter()
      throw new Problem('not-found')
    },
  )
  app.post('/signed-in', { config: profile }, async () => 'done')
  app.post('/tenant', { config: invoice }, async ({ entry, headers }) => {
    const named = headers['x-demote']
    if (named !== undefined) callers[String(named)] = aCaller({ role: null })
    return app.db.write(entry, async (_tx, { role }) => ({ role }))
  })
  const get = async (url: string, caller: string, headers: Record<string, string> = {}) =>
    app.inject({ url, headers: { ...headers, 'x-caller': caller } })
  return { app, get, log, entered }
}

const everyUrl = ['/own', '/tenant', '/signed-in', '/public', '/silent', '/no-rule', '/blind']

t.test('without a credential every route is 401, whatever access it states', async (t) => {
  const { get, entered } = await build(t)
  for (const url of everyUrl) {
    const answer = await get(url, 'nobody')
    t.equal(answer.statusCode, 401, url)
    t.match(answer.json(), { type: '/docs/errors/unauthenticated' }, url)
  }
  t.same(entered, [], 'the database is not asked')
})

t.test('a credential that is not live is 401, and says which kind it was', async (t) => {
  const { app, get } = await build(t)
  const types = { 'a dead session': 'unauthenticated', 'a dead token': 'invalid-token' }
  for (const [name, type] of Object.entries(types)) {
    for (const url of ['/own', '/tenant', '/signed-in', '/session', '/recent']) {
      const answer = await get(url, name)
      t.equal(answer.statusCode, 401, `${name} ${url}`)
      t.match(answer.json(), { type: `/docs/errors/${type}` })
    }
    const headers = { 'x-caller': name, 'content-type': 'application/json' }
    const posted = await app.inject({ method: 'POST', url: '/tenant', headers, payload: '{' })
    t.equal(posted.statusCode, 401, `${name}, before the body is read`)
  }
})

t.test('reading the caller or an entry without a credential is an error', async (t) => {
  const { app, get } = await build(t)
  const told: unknown[] = []
  app.addHook('onResponse', async (request) => {
    for (const name of ['caller', 'sessionEntry', 'entry'] as const) {
      try {
        told.push(request[name])
      } catch (error) {
        told.push(error)
      }
    }
  })
  await get('/signed-in', 'nobody')
  t.match(told, [/has not entered/, { code: 'unauthenticated' }, { code: 'unauthenticated' }])
})

t.test('credential and permission are required before the body is read', async (t) => {
  const { app } = await build(t)
  const post = (url: string, caller: string) =>
    app.inject({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json', 'x-caller': caller },
      payload: '{broken',
    })
  t.equal((await post('/signed-in', 'nobody')).statusCode, 401)
  t.equal((await post('/tenant', 'homeless')).statusCode, 403)
  t.equal((await post('/tenant', 'admin')).statusCode, 400)
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
  const refused = log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'refused')
  t.same(
    refused.map(({ reason }) => reason),
    ['no-rule', 'no-rule', 'no-rule'],
  )
})

t.test('a tenant rule is refused to a caller without a tenant', async (t) => {
  const { get } = await build(t)
  t.equal((await get('/tenant', 'homeless')).statusCode, 403)
  t.equal((await get('/own', 'homeless')).statusCode, 200)
})

t.test('an operator rule is for operators, whatever their role', async (t) => {
  const { get, log } = await build(t)
  t.equal((await get('/operator', 'operator')).statusCode, 200)
  for (const caller of ['member', 'admin', 'token, unlimited']) {
    t.equal((await get('/operator', caller)).statusCode, 403, caller)
  }
  t.match(log.join(''), /"reason":"no-operator"/)
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

t.test('the transaction has the user, and the tenant if there is one', async (t) => {
  const { get } = await build(t)
  const { tenantId } = aCaller()
  t.same((await get('/own', 'member')).json(), { userId: 1, tenantId })
  t.same((await get('/own', 'homeless')).json(), { userId: 1, tenantId: null })
})

t.test('a request without a body enters once, when its handler reads', async (t) => {
  const { get, entered } = await build(t)
  await get('/own', 'member')
  t.same(entered, ['read'])
})

t.test('a request that may carry a body enters early and again to write', async (t) => {
  const { app, entered } = await build(t)
  const answer = await app.inject({
    method: 'POST',
    url: '/tenant',
    headers: { 'x-caller': 'admin' },
  })
  t.equal(answer.statusCode, 200)
  t.same(entered, ['enter', 'write'])
})

t.test('the write decides on what is true then, not on what was true at first', async (t) => {
  const { app, entered } = await build(t)
  const answer = await app.inject({
    method: 'POST',
    url: '/tenant',
    headers: { 'x-caller': 'admin', 'x-demote': 'admin' },
  })
  t.equal(answer.statusCode, 403)
  t.same(entered, ['enter', 'write'])
})

t.test('an answer of 400 needs no entry, and an error of ours does not enter', async (t) => {
  const { get, entered } = await build(t)
  t.equal((await get('/blind/400', 'admin')).statusCode, 400)
  t.equal((await get('/blind/500', 'admin')).statusCode, 500)
  t.same(entered, [])
})

t.test('a handler that answers without having entered is a 500', async (t) => {
  const { app, get, log } = await build(t)
  const answer = await get('/blind', 'admin')
  t.equal(answer.statusCode, 500)
  t.notMatch(answer.body, /done/)
  t.match(log.join(''), /GET \/blind answers without an entry/)
  const head = await app.inject({ method: 'HEAD', url: '/blind', headers: { 'x-caller': 'admin' } })
  t.equal(head.statusCode, 500)
})

t.test('identity and permission are refused before malformed input', async (t) => {
  const { get } = await build(t)
  const inputs: [string, string, Record<string, string>][] = [
    ['a malformed parameter', '/tenant/x', {}],
    ['an unknown query', '/tenant/1?no=such', {}],
    ['what the handler finds malformed', '/tenant/1', { 'x-malformed': 'yes' }],
  ]
  for (const [name, url, headers] of inputs) {
    t.equal((await get(url, 'nobody', headers)).statusCode, 401, name)
    t.equal((await get(url, 'a dead session', headers)).statusCode, 401, name)
    t.equal((await get(url, 'a dead token', headers)).statusCode, 401, name)
    t.equal((await get(url, 'homeless', headers)).statusCode, 403, name)
    t.equal((await get(url, 'admin', headers)).statusCode, 400, name)
  }
  t.equal((await get('/tenant/1', 'admin')).statusCode, 404)
})

t.test('a request that an earlier guard refuses costs no transaction', async (t) => {
  const { get, entered } = await build(t)
  t.equal((await get('/own', 'a dead session', { 'x-limited': 'yes' })).statusCode, 429)
  t.equal((await get('/own', 'admin', { 'x-limited': 'yes' })).statusCode, 429)
  t.same(entered, [])
})

t.test('a token is refused on routes that require a session', async (t) => {
  const { get } = await build(t)
  for (const caller of ['token, unlimited', 'token, limited']) {
    t.equal((await get('/signed-in', caller)).statusCode, 200)
    for (const url of ['/session', '/recent', '/signed-in/session']) {
      const answer = await get(url, caller)
      t.equal(answer.statusCode, 403, `${caller} ${url}`)
      t.match(answer.json(), { type: '/docs/errors/session-required' })
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
      t.match(answer.json(), { type: '/docs/errors/reauthentication-required' })
    }
  }
})

t.test('it needs a session, a credential and the access rule', async (t) => {
  for (const missing of ['session', 'require-access', 'credential']) {
    const app = Fastify()
    if (missing !== 'session') await app.register(fakeSession())
    for (const name of ['require-access', 'credential']) {
      if (missing !== name) await app.register(neighbour(name))
    }
    await t.rejects(Promise.resolve(app.register(authz)), new RegExp(`'${missing}'`))
  }
})
