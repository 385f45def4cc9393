import type { FastifyInstance, HTTPMethods, InjectOptions } from 'fastify'
import t, { type Test } from 'tap'
import { policy } from '#src/access/policy.ts'
import { build } from './helper.ts'

type Route = { method: string; url: string; access: unknown }

const problemMembers = ['type', 'title', 'status', 'detail', 'instance', 'errors']

t.test('the scopes and their guards are the ones that were reviewed', async (t) => {
  const { app } = await build(t, { RATE_LIMIT_SIGN_IN: '30/60', RATE_LIMIT_API: '600/60' })
  await app.ready()
  const routes = app.printRoutes({ includeHooks: true, commonPrefix: false })
  t.notMatch(routes, /anonymous/, 'every hook has a name')
  t.matchSnapshot(routes, 'routes and the hooks each one passes')
  t.matchSnapshot(app.printPlugins().replace(/ \d+(\.\d+)? ms/g, ''), 'plugins by scope')
})

t.test(
  'every route states its access, and without credentials only public ones answer',
  async (t) => {
    const { app } = await build(t)
    await app.ready()
    const routes = await collectRoutes(app)
    t.ok(routes.length > 10, 'the description names the routes')
    for (const route of routes) await checkAnonymous(t, app, route)
  },
)

t.test('HEAD is off for /auth/*', async (t) => {
  const { app } = await build(t)
  await app.ready()
  const paths = (await collectRoutes(app)).filter(({ url }) => url.startsWith('/auth/'))
  t.ok(paths.length > 0)
  for (const { url } of paths) {
    t.notOk(app.hasRoute({ method: 'HEAD', url }), url)
    t.equal((await app.inject({ method: 'HEAD', url: fill(url) })).statusCode, 404, url)
  }
})
