import Fastify from 'fastify'
import t, { type Test } from 'tap'
import authz from '#plugins/authz.ts'
import errors from '#plugins/errors.ts'
import tenantRls from '#plugins/tenant-rls.ts'
import { aCaller, fakeSession, neighbour } from './neighbours.ts'

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

async function build(t: Test) {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(errors)
  for (const name of ['require-access', 'api-token', 'database', 'client-info'])
    await app.register(neighbour(name))
  await app.register(fakeSession(callers))
  await app.register(authz)
  await app.register(tenantRls)
  app.post(
    '/:tenantId',
    { config: { access: 'signed-in' } },
    async (request) => request.tenantScope,
  )
  app.get('/plain', { config: { access: 'signed-in' } }, async () => 'done')
  return app
}

t.test('the tenant comes from the verified session, never from the request', async (t) => {
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
    t.equal(plain.statusCode, expected, `${caller}, where the scope is not read`)
  }
})

t.test('without a tenant, reading the scope is a 403 in every hook', async (t) => {
  const app = await build(t)
  const told: unknown[] = []
  app.addHook('onResponse', async (request) => {
    for (const name of ['tenantScope', 'actor'] as const) {
      try {
        told.push(request[name])
      } catch (error) {
        told.push(error)
      }
    }
  })
  await app.inject({ url: '/plain', headers: { 'x-caller': 'role alone' } })
  t.match(told, Array(2).fill({ code: 'forbidden' }))
})

t.test('without a credential the status is 401, not 403', async (t) => {
  const app = await build(t)
  t.equal((await app.inject({ method: 'POST', url: '/x' })).statusCode, 401)
})

t.test('the scope is read-only', async (t) => {
  const app = await build(t)
  app.get('/overwrite', { config: { access: 'signed-in' } }, async (request) => {
    Object.assign(request, { tenantScope: { userId: 2, tenantId: foreign } })
    return request.tenantScope
  })
  const answer = await app.inject({ url: '/overwrite', headers: { 'x-caller': 'viewer' } })
  t.equal(answer.statusCode, 500)
})

t.test('the plugin requires authz and the database', async (t) => {
  const app = Fastify()
  await t.rejects(Promise.resolve(app.register(tenantRls)), /'authz'/)
})
