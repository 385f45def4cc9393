import Fastify from 'fastify'
import t from 'tap'
import openapi from '#plugins/openapi.ts'
import { IdParams, problems } from '#src/http/schemas.ts'

t.test('the description is generated from the schemas that the routes use', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(openapi, { baseUrl: 'https://app.example.com' })
  const schema = { summary: 'Read it', params: IdParams, response: problems(404) }
  app.get('/things/:id', { schema }, async () => 'done')
  app.get('/hidden', { schema: { hide: true } }, async () => 'done')
  await app.ready()
  const description = JSON.parse(JSON.stringify(app.swagger()))

  t.match(description, {
    openapi: '3.1.0',
    servers: [{ url: 'https://app.example.com' }],
    components: { securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: 'sid' } } },
  })
  t.same(Object.keys(description.paths), ['/things/{id}'], 'what is hidden stays hidden')
  const { get } = description.paths['/things/{id}']
  t.match(get, {
    summary: 'Read it',
    parameters: [{ in: 'path', name: 'id', required: true, schema: { type: 'string' } }],
  })
  t.same(Object.keys(get.responses), ['404'])
})
