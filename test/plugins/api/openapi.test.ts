import Fastify from 'fastify'
import t from 'tap'
import openapi from '#plugins/api/openapi.ts'
import { IdParams, problems } from '#src/http/schemas.ts'

t.test('the description is generated from the schemas that the routes use', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(openapi, { baseUrl: 'https://app.example.com' })
  const schema = {
    operationId: 'getThing',
    summary: 'Read it',
    params: IdParams,
    response: problems('last-admin'),
  }
  const config = { access: 'public' } as const
  app.get('/things/:id', { schema, config }, async () => 'done')
  app.get('/hidden', { schema: { hide: true } }, async () => 'done')
  await app.ready()
  const description = JSON.parse(JSON.stringify(app.describeApi()))

  t.match(description, {
    openapi: '3.1.0',
    servers: [{ url: 'https://app.example.com' }],
    components: { securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: 'sid' } } },
  })
  t.same(Object.keys(description.paths), ['/things/{id}'], 'what is hidden stays hidden')
  const { get } = description.paths['/things/{id}']
  t.match(get, {
    summary: 'Read it',
    parameters: [{ in: 'path', name: 'id', required: true, schema: { type: 'integer' } }],
  })
  t.same(Object.keys(get.responses), ['404', '409', '429', '500', '503'])
  t.same(get.responses[409], { $ref: '#/components/responses/LastAdmin' })
})

t.test('the usual problems follow from access and path', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(openapi, { baseUrl: 'https://app.example.com' })
  const access = { resource: 'order', action: 'read' } as const
  for (const [url, given] of Object.entries({
    '/public': 'public',
    '/public/:id': 'public',
    '/own': access,
    '/own/:id': access,
  } as const)) {
    const operationId = `get${url.replaceAll(/\W/g, '')}`
    const schema = { operationId, ...(url.includes(':') && { params: IdParams }) }
    app.get(url, { schema, config: { access: given } }, async () => 'done')
  }
  await app.ready()
  const { paths } = app.describeApi()
  const refusals = Object.entries(paths).map(([path, { get }]) => [
    path,
    Object.keys(get?.responses ?? {}).filter((status) => status >= '400'),
  ])
  t.same(Object.fromEntries(refusals), {
    '/public': ['429', '500', '503'],
    '/public/{id}': ['404', '429', '500', '503'],
    '/own': ['400', '401', '403', '429', '500', '503'],
    '/own/{id}': ['400', '401', '403', '404', '429', '500', '503'],
  })
})

t.test(
  'a route without an operation id, or with a status that needs codes, is refused',
  async (t) => {
    const config = { access: 'public' } as const
    for (const [schema, message] of [
      [{}, 'GET /things does not state schema.operationId.'],
      [{ operationId: 'getThing', response: problems(409) }, 'GET /things: 409 needs its codes.'],
    ] as const) {
      const app = Fastify()
      t.teardown(() => app.close())
      await app.register(openapi, { baseUrl: 'https://app.example.com' })
      const describe = async () => {
        app.get('/things', { schema, config }, async () => 'done')
        await app.ready()
        app.describeApi()
      }
      await t.rejects(describe(), { message })
    }
  },
)
