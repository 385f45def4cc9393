import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import openapiTypescript from 'openapi-typescript'
import t from 'tap'
import { type ApiDescription, answerOf } from '#src/http/openapi-examples.ts'
import { build, createOrder, createUser, signIn } from '#test/support/helper.ts'

const run = promisify(execFile)

// These rules warn about deliberate choices.
const meant = {
  'no-server-example.com': 'off', // the server under test
  'operation-2xx-response': 'off', // the callback only ever sends the browser on
  'no-required-schema-properties-undefined': 'off', // `not: { required }` names no new property
} as const

t.test('the description and its examples pass the linter', async (t) => {
  const { app } = await build(t)
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
    const { app } = await build(t)
    const description = (await app.inject('/openapi.json')).json()
    for (const [path, operations] of Object.entries<object>(description.paths)) {
      t.notMatch(path, /^\/(app|docs|assets)/, 'pages are not part of it')
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
  const { app } = await build(t)
  const { paths } = (await app.inject('/openapi.json')).json<ApiDescription>()
  const operations = Object.values(paths).flatMap((path) => Object.values(path))
  const ids = operations.map(({ operationId }) => operationId ?? '')
  t.equal(new Set(ids).size, ids.length)
  for (const id of ids) t.match(id, /^[a-z]+([A-Z][a-z]+)*$/)
  t.ok(['listOrders', 'createOrder', 'getOrder', 'updateOrder'].every((id) => ids.includes(id)))
  const integers = Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods)
      .flatMap(({ parameters = [] }) => parameters)
      .filter(({ name, schema }) => isInteger(path, name) && schema.format !== 'uuid')
      .map((parameter) => ({ path, ...parameter })),
  )
  t.ok(integers.length > 40, `${integers.length} parameters`)
  for (const { path, name, schema } of integers) {
    t.match(schema, { type: 'integer', minimum: 1 }, `${path} ${name}`)
  }
})

t.test('every object in a body has a name; a problem names its code', async (t) => {
  const { app } = await build(t)
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
  t.match(paths['/users/{id}']?.patch?.responses[409], { $ref: /LastAdmin$/ })
})

function isInteger(path: string, name: string): boolean {
  const isText = /^\/(billing|auth\/identities)/.test(path)
  return name === 'limit' || (/^(id|\w+Id)$/.test(name) && !isText)
}

function componentOf(description: ApiDescription, reference: string) {
  return JSON.parse(JSON.stringify(answerOf(description, { $ref: reference })))
}

t.test('a typed client is generated and works; wrong calls do not compile', async (t) => {
  const test = await build(t)
  const user = await createUser(test.database)
  const id = await createOrder(test.database, user)
  const { cookie } = await signIn(test, user)
  const baseUrl = await test.app.listen({ host: '127.0.0.1', port: 0 })
  const description = (await test.app.inject('/openapi.json')).json()

  // Inside the repository, so that the client finds its packages.
  const dist = fileURLToPath(new URL('../../dist', import.meta.url))
  await mkdir(dist, { recursive: true })
  const folder = await mkdtemp(join(dist, 'client-'))
  t.teardown(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await writeFile(join(folder, 'api.ts'), await openapiTypescript(description))
  await writeFile(join(folder, 'client.ts'), client)
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: '../../tsconfig.json',
      compilerOptions: { noUnusedLocals: false },
      include: ['*.ts'],
    }),
  )
  const tsc = fileURLToPath(new URL('../../node_modules/typescript/lib/tsc.js', import.meta.url))
  await run(process.execPath, [tsc, '--project', folder]).catch(({ stdout, stderr }) => {
    throw new Error(stdout + stderr)
  })
  const { stdout } = await run(process.execPath, [
    join(folder, 'client.ts'),
    baseUrl,
    cookie,
    String(id),
  ])
  t.same(JSON.parse(stdout), { city: 'Porto', missing: 'Not found', first: id })
})

const client = `
import createClient from 'openapi-fetch'
import type { paths } from './api.ts'

const [baseUrl = '', cookie = '', id = ''] = process.argv.slice(2)
const api = createClient<paths>({ baseUrl, headers: { cookie } })
const shippingAddress = { name: 'Ada', line1: '2 Quay', city: 'Porto', postalCode: '4000', country: 'PT' }
const changed = await api.PATCH('/orders/{id}', { params: { path: { id: Number(id) } }, body: { shippingAddress } })
const missing = await api.GET('/orders/{id}', { params: { path: { id: 9999 } } })
const list = await api.GET('/orders', { params: { query: { limit: 1 } } })
const city: string | undefined = changed.data?.shippingAddress.city
const first: number | undefined = list.data?.data[0]?.id
console.log(JSON.stringify({ city, missing: missing.error?.title, first }))

export async function refusedByTheCompiler() {
  // @ts-expect-error there is no such path
  await api.GET('/nothing')
  // @ts-expect-error the body is missing
  await api.PATCH('/orders/{id}', { params: { path: { id: Number(id) } } })
  // @ts-expect-error a city is a string
  await api.PATCH('/orders/{id}', { params: { path: { id: Number(id) } }, body: { shippingAddress: { ...shippingAddress, city: 1 } } })
}
`
