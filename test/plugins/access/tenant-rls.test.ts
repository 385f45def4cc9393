import Fastify from 'fastify'
import t, { type Test } from 'tap'
import authz from '#plugins/access/authz.ts'
import tenantRls from '#plugins/access/tenant-rls.ts'
import errors from '#plugins/http/errors.ts'
import { aCaller, fakeDatabase, fakeSession, neighbour } from '#test/plugins/neighbours.ts'

const tenantId = aCaller().tenantId
const foreign = '00000000-0000-4000-8000-00000000000f'
const callers = {
  viewer: aCaller(),
  admin: aCaller({ role: 'admin' }),
  'no tenant': aCaller({ tenantId: null, role: null }),
  'role alone': aCaller({ tenantId: null, role: 'admin' }),
  'no membership': aCaller({ role: null }),
  'unknown role': aCaller({ role: 'owner' }),
  'prototype role': aCaller({ role: '__proto__' }),
  'inherited role': aCaller({ role: 'constructor' }),
}

const post = { access: { resource: 'post', action: 'read' } } as const
const profile = { access: { resource: 'profile', action: 'read' } } as const

async function build(t: Test) {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(errors)
  for (const name of ['require-access', 'credential']) await app.register(neighbour(name))
  await app.register(fakeDatabase(callers))
  await app.register(fakeSession())
  await app.register(authz)
  await app.register(tenantRls)
  app.post('/:tenantId', { config: post }, async ({ tenantEntry }) =>
    app.db.write(tenantEntry, async (_tx, { userId, tenantId }) => ({ userId, tenantId })),
  )
  app.get('/plain', { config: post }, async (request) => (await request.enter()).userId)
  app.get('/person', { config: profile }, async ({ tenantEntry }) => app.db.read(tenantEntry))
  return app
}

t.test('the tenant comes from the credential, never from the request', async (t) => {
  const app = await build(t)
  const answer = await app.inject({
    method: 'POST',
    url: `/${foreign}?tenantId=${foreign}`,
    headers: { 'x-caller': 'viewer', 'x-tenant-id': foreign, cookie: `tenantId=${foreign}` },
    payload: { tenantId: foreign, tenant_id: foreign },
  })
  t.same(answer.json(), { userId: 1, tenantId })
})

t.test('only a member with a known role can work in a tenant', async (t) => {
  const app = await build(t)
  for (const caller of Object.keys(callers)) {
    const answer = await app.inject({ method: 'POST', url: '/x', headers: { 'x-caller': caller } })
    const expected = caller === 'viewer' || caller === 'admin' ? 200 : 403
    t.equal(answer.statusCode, expected, caller)
    const plain = await app.inject({ url: '/plain', headers: { 'x-caller': caller } })
    t.equal(plain.statusCode, expected, `${caller}, where the tenant is not asked for`)
  }
})

t.test('without a tenant its entry is a 403, even where the rule needs none', async (t) => {
  const app = await build(t)
  for (const caller of ['role alone', 'no tenant']) {
    const answer = await app.inject({ url: '/person', headers: { 'x-caller': caller } })
    t.equal(answer.statusCode, 403, caller)
    t.match(answer.json(), { type: '/docs/errors/forbidden' })
  }
  const member = await app.inject({ url: '/person', headers: { 'x-caller': 'viewer' } })
  t.match(member.json(), { tenantId })
})

t.test('without a credential the status is 401, not 403', async (t) => {
  const app = await build(t)
  t.equal((await app.inject({ method: 'POST', url: '/x' })).statusCode, 401)
  t.equal((await app.inject({ url: '/person' })).statusCode, 401)
  const dead = await app.inject({ url: '/person', headers: { 'x-caller': 'a dead session' } })
  t.equal(dead.statusCode, 401)
})

t.test('entries and facts are read-only', async (t) => {
  const app = await build(t)
  app.get<{ Params: { name: string } }>('/set/:name', { config: post }, async (request) => {
    await request.enter()
    Object.assign(request, { [request.params.name]: { userId: 2, tenantId: foreign } })
    return request.caller
  })
  for (const name of ['tenantEntry', 'entry', 'sessionEntry', 'caller']) {
    const answer = await app.inject({ url: `/set/${name}`, headers: { 'x-caller': 'viewer' } })
    t.equal(answer.statusCode, 500, name)
  }
})

t.test('the plugin requires authz', async (t) => {
  const app = Fastify()
  await t.rejects(Promise.resolve(app.register(tenantRls)), /'authz'/)
})
