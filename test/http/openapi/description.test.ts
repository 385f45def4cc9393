import { createConfig, lintFromString } from '@redocly/openapi-core'
import t from 'tap'
import { type ApiDescription, answerOf } from '#src/http/openapi/examples.ts'
import { build } from '#test/support/app/app.ts'

// These rules warn about deliberate choices.
const meant = {
  'no-server-example.com': 'off', // the server under test
  'operation-2xx-response': 'off', // the callback only ever sends the browser on
  'no-required-schema-properties-undefined': 'off', // `not: { required }` names no new property
} as const

/** For every test: none changes anything. */
const { app } = await build(t)

t.test('the description and its examples pass the linter', async (t) => {
  const source = (await app.inject('/openapi.json')).body
  const config = await createConfig({
    extends: ['recommended'],
    rules: { ...meant, 'no-invalid-media-type-examples': 'error' },
  })
  const found = await lintFromString({ source, config })
  t.same(
    found.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`),
    [],
  )
})

t.test(
  'every response is described; errors are problems or the texts of the contract',
  async (t) => {
    const description = (await app.inject('/openapi.json')).json()
    for (const [path, operations] of Object.entries<object>(description.paths)) {
      t.notMatch(path, /^\/(app|docs|assets)(\/|$)/, 'pages are not part of it')
      for (const [method, operation] of Object.entries(operations)) {
        for (const [status, answer] of Object.entries<{ $ref?: string; content?: object }>(
          operation.responses,
        )) {
          const name = `${method} ${path} ${status}`
          if (answer.$ref !== undefined) {
            const problem = componentOf(description, answer.$ref)
            const [media] = Object.values<{ example: { status: number } }>(problem.content)
            t.same(Object.keys(problem.content), ['application/problem+json'], name)
            t.equal(media?.example.status, Number(status), name)
          } else if (Number(status) >= 400) {
            t.match(Object.keys(answer.content ?? {}), ['text/plain'], name)
          }
          t.notMatch(answer, { description: 'Default Response' }, name)
        }
      }
    }
  },
)

t.test('operations have readable ids, each once; ids and limits are integers', async (t) => {
  const { paths } = (await app.inject('/openapi.json')).json<ApiDescription>()
  const operations = Object.values(paths).flatMap((path) => Object.values(path))
  const ids = operations.map(({ operationId }) => operationId ?? '')
  t.equal(new Set(ids).size, ids.length)
  for (const id of ids) t.match(id, /^[a-z]+([A-Z][a-z]+)*$/)
  t.ok(['listOrders', 'createOrder', 'getOrder', 'updateOrder'].every((id) => ids.includes(id)))
  const integers = Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods)
      .flatMap(({ parameters = [] }) => parameters)
      .filter(
        ({ name, schema }) =>
          isInteger(path, name) && schema.format !== 'uuid' && name !== 'eventId',
      )
      .map((parameter) => ({ path, ...parameter })),
  )
  t.ok(integers.length > 40, `${integers.length} parameters`)
  for (const { path, name, schema } of integers) {
    t.match(schema, { type: 'integer', minimum: 1 }, `${path} ${name}`)
  }
})

t.test('every object in a body has a name; a problem names its code', async (t) => {
  const description = (await app.inject('/openapi.json')).json<ApiDescription>()
  const { paths, components, webhooks } = description
  const bodies = [paths, webhooks ?? {}]
    .flatMap((all) => Object.values(all).flatMap((path) => Object.values(path)))
    .flatMap(({ operationId, requestBody, responses }) =>
      [requestBody, ...Object.values(responses)].flatMap((one) =>
        one !== undefined && 'content' in one
          ? Object.values(one.content ?? {}).map(({ schema }) => ({ operationId, schema }))
          : [],
      ),
    )
  t.ok(bodies.length > 100)
  for (const { operationId, schema } of bodies)
    t.equal(schema.properties, undefined, operationId ?? '')
  t.match(components?.schemas?.LastAdminProblem, {
    allOf: [
      { $ref: '#/components/schemas/Problem' },
      { properties: { type: { const: '/docs/errors/last-admin' }, status: { const: 409 } } },
    ],
  })
  t.match(paths['/users/{id}']?.delete?.responses[409], { $ref: /LastAdmin$/ })
})

t.test('the headers of limits and waits are described, and what a service needs', async (t) => {
  const description = (await app.inject('/openapi.json')).json<ApiDescription>()
  const operations = Object.values(description.paths).flatMap((path) => Object.values(path))
  for (const { operationId, responses } of operations) {
    for (const [status, answer] of Object.entries(responses)) {
      const headers = Object.keys(answerOf(description, answer).headers ?? {})
      const expected = status.startsWith('2')
        ? ['RateLimit', 'RateLimit-Policy']
        : ['429', '503'].includes(status)
          ? ['Retry-After']
          : []
      const missing = expected.filter((name) => !headers.includes(name))
      t.same(missing, [], `${operationId} ${status}`)
    }
  }
  const { paths } = description
  t.match(paths['/posts']?.post?.description, 'A service token needs `post:create`.')
  t.notMatch(paths['/orders']?.post?.description, 'A service token needs')
})

function isInteger(path: string, name: string): boolean {
  const isText = /^\/(billing|auth\/identities)/.test(path)
  return name === 'limit' || (/^(id|\w+Id)$/.test(name) && !isText)
}

function componentOf(description: ApiDescription, reference: string) {
  return JSON.parse(JSON.stringify(answerOf(description, { $ref: reference })))
}
