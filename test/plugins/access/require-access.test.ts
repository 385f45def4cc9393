import Fastify, { type FastifyInstance, type RouteShorthandOptions } from 'fastify'
import t from 'tap'
import requireAccess from '#plugins/access/require-access.ts'
import { policy } from '#src/access/policy.ts'

/** Registers one route and starts the server; rejects if it does not start. */
async function boot(
  config: RouteShorthandOptions['config'],
  decorators: readonly string[] = [],
): Promise<FastifyInstance> {
  const app = Fastify()
  await app.register(requireAccess)
  for (const name of new Set(decorators)) app.decorateRequest(name, null)
  await app.register(async function scope(app) {
    app.get('/thing', config === undefined ? {} : { config }, async () => 'done')
  })
  await app.ready()
  await app.close()
  return app
}

t.test('a route without config.access prevents the start', async (t) => {
  await t.rejects(boot(undefined), /GET \/thing does not state config\.access/)
  await t.rejects(boot({}), /does not state config\.access/)
})

t.test('a route in a nested scope is checked too', async (t) => {
  const app = Fastify()
  await app.register(requireAccess)
  const started = app.register(async function outer(app) {
    await app.register(async function inner(app) {
      app.delete('/deep', async () => 'done')
    })
  })
  await t.rejects(Promise.resolve(started), /DELETE \/deep does not state config\.access/)
})

t.test('a public route must say so and needs no guard', async (t) => {
  await t.resolves(boot({ access: 'public' }))
})

t.test('a route outside the scope of its guard prevents the start', async (t) => {
  const order = { resource: 'order', action: 'read' } as const
  await t.rejects(boot({ access: order }), /outside the scope that sets request\.entry/)
  await t.rejects(boot({ access: order }, ['webhook']), /request\.entry/)
  await t.rejects(boot({ access: 'signature' }), /outside the scope that sets request\.webhook/)
  await t.rejects(boot({ access: 'signature' }, ['entry', 'tenantEntry']), /request\.webhook/)
  await t.resolves(boot({ access: order }, ['entry']))
  await t.resolves(boot({ access: 'signature' }, ['webhook']))
  await t.resolves(boot({ access: 'signature' }, ['logout']))
})

t.test(
  'a feature that no plan has, or beside a rule that has its own need, prevents the start',
  async (t) => {
    const order = { resource: 'order', action: 'read', feature: 'export' } as const
    await t.rejects(boot({ access: order }, ['entry']), {
      message: 'GET /thing asks for the feature export, which no plan has.',
    })
    const rule = policy.find(({ resource, action }) => resource === 'order' && action === 'read')
    const change = Object(rule)
    change.plans = ['pro']
    await t.rejects(boot({ access: order }, ['entry']), /and its rule for another plan/)
    change.plans = []
    const post = { resource: 'post', action: 'read', feature: 'export' } as const
    await t.rejects(boot({ access: post }, ['tenantEntry']), /its rule is for programs/)
  },
)

t.test('every rule needs its guard: of a caller, and of a tenant where it has one', async (t) => {
  const guards = {
    owner: 'entry',
    self: 'entry',
    operator: 'entry',
    app: 'entry',
    tenant: 'tenantEntry',
    chain: 'tenantEntry',
  } as const
  for (const { resource, action, scope } of policy) {
    const access = { resource, action }
    const name = `${resource}:${action}`
    const guard = guards[scope]
    await t.rejects(boot({ access }), new RegExp(`request\\.${guard}`), name)
    if (guard === 'tenantEntry') {
      await t.rejects(boot({ access }, ['entry']), /request\.tenantEntry/, name)
    }
    await t.resolves(boot({ access }, ['entry', guard]), name)
  }
})

t.test('an unknown policy rule prevents the start', async (t) => {
  const unknown = { resource: 'order', action: 'explode' }
  await t.rejects(
    boot({ access: unknown as never }, ['entry', 'tenantEntry']),
    /the policy has no rule order:explode/,
  )
  await t.rejects(
    boot({ access: 'everyone' as never }, ['entry', 'tenantEntry']),
    /the policy has no rule everyone\./,
  )
})
