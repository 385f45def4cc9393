import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { collectRoutes } from '#dev/testing/access/collected-routes.ts'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import schemaCompilers from '#plugins/api/schema-compilers.ts'
import { sha256 } from '#src/crypto/hash.ts'
import { Time, uuidForm } from '#src/http/schemas.ts'
import { toFieldErrors } from '#src/http/validation.ts'
import { rotateSecret } from '#src/webhooks/endpoints/endpoints.ts'
import { openEndpointSecrets } from '#src/webhooks/signing/secrets.ts'
import { build } from '#test/support/app/app.ts'
import { addIdentity } from '#test/support/callers/account.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { openPatiently } from '#test/support/database/open.ts'
import { allowScopes } from '#test/support/database/scope.ts'
import { createEndpoint, testKeys } from '#test/support/receiver/webhook-endpoint.ts'

const id = '0b6c8f9a-3f4e-4d0a-9c43-7d1f2a5e8b60'
const otherForms = [
  `urn:uuid:${id}`,
  id.toUpperCase(),
  `{${id}}`,
  id.replaceAll('-', ''),
  `${id}\n`,
  ` ${id}`,
]

type Schema = { [key: string]: unknown }

/** Every schema of a string in the schema of a request part. */
function stringsOf(schema: unknown): Schema[] {
  if (typeof schema !== 'object' || schema === null) return []
  const own = 'type' in schema && schema.type === 'string' ? [schema as Schema] : []
  return [...own, ...Object.values(schema).flatMap(stringsOf)]
}

async function requestStrings(t: Test) {
  const app = Fastify()
  await app.register(schemaCompilers)
  const { routes } = await collectRoutes(() => build(t))
  return routes.flatMap(({ method, url, schema = {} }) =>
    (['params', 'querystring', 'body'] as const).flatMap((part) =>
      Object.entries(Object(Object(schema[part]).properties)).flatMap(([name, property]) =>
        stringsOf(property).map((schema) => {
          const accepts = app.validatorCompiler?.({ schema, method, url })
          if (accepts === undefined) throw new Error('The plugin sets a compiler.')
          return { place: `${method} ${url} ${part} ${name}`, name, schema, accepts }
        }),
      ),
    ),
  )
}

// Never sent to the database: a cursor has a checksum and forms, a URL is parsed, and a notice, a
// provider and a return path are looked up among known ones.
const cursors = ['cursor', 'after', 'trail', 'members', 'invitations']
const notStored = [...cursors, 'url', 'done', 'provider', 'return_to', 'rd']

t.test('no field of a request takes a text with NUL, which PostgreSQL cannot store', async (t) => {
  const strings = (await requestStrings(t)).filter(({ name }) => !notStored.includes(name))
  t.ok(strings.length > 50, `${strings.length} fields`)
  const samples = ['\0', 'a\0', 'a\0b@example.com', '1\0']
  const taking = strings.filter(({ accepts }) => samples.some((text) => accepts(text) === true))
  t.strictSame(
    taking.map(({ place }) => place),
    [],
  )
})

t.test('a text that has not the form of its field is explained in words', async (t) => {
  const isPage = / \/(app|assets|portal)\//
  const strings = (await requestStrings(t)).filter(
    ({ schema, place }) => 'pattern' in schema && !isPage.test(place),
  )
  t.ok(strings.length > 50, `${strings.length} fields`)
  const keyword = { keyword: 'pattern', instancePath: '/x', schemaPath: '#' }
  const unexplained = strings.filter(({ schema }) => {
    const [error] = toFieldErrors('body', [{ ...keyword, params: schema }])
    return error === undefined || /must match|the required form/.test(error.detail)
  })
  t.strictSame(
    unexplained.map(({ place, schema }) => `${place} ${schema.pattern}`),
    [],
  )
})

t.test('a UUID has one form in every request: canonical, in lower case', async (t) => {
  const ids = (await requestStrings(t)).filter(({ schema }) => schema.format === 'uuid')
  t.ok(ids.length > 20, `${ids.length} fields`)
  for (const { place, accepts } of ids) {
    t.equal(accepts(id), true, place)
    const others = otherForms.filter((text) => accepts(text) === true)
    t.strictSame(others, [], place)
  }
  t.ok(uuidForm.test(id), 'and in cursors')
  for (const text of otherForms) t.notOk(uuidForm.test(text), text)
})

t.test('a malformed UUID is 400 in path, body, form and cursor', async (t) => {
  const test = await build(t)
  const admin = await createUser(test.database, { role: 'admin' })
  const send = as(test, { cookie: (await signIn(test, admin)).cookie })
  for (const text of otherForms) {
    const path = encodeURIComponent(text)
    for (const url of [`/webhook-endpoints/${path}`, `/deliveries/${path}`, `/auth/tokens/${path}`])
      t.equal((await send('GET', url)).statusCode, 400, url)
    t.equal((await send('DELETE', `/invitations/${path}`)).statusCode, 400)
    t.equal((await send('POST', '/session/tenant', { tenantId: text })).statusCode, 400)
    t.equal((await send('POST', '/app/account/tokens/end', { id: text })).statusCode, 400)
    const cursor = cursorOf('tokens', ['1700000000000', text])
    t.equal((await send('GET', `/auth/tokens?cursor=${cursor}`)).statusCode, 400)
  }
})

t.test('a rotated secret is bound to the id as stored, not as requested', async (t) => {
  const database = await createDatabase(t)
  const db = openPatiently(t, database.url, 2)
  const admin = await createUser(database, { role: 'admin' })
  const { tenantId } = admin
  const enter = await allowScopes<typeof admin>(database)
  const endpointId = await createEndpoint(database, admin, { url: 'https://8.8.8.8/' })
  const rotation = { keys: testKeys, now: new Date(), overlap: 0 }
  const by = { ...admin, clientInfo: { ip: null, userAgent: null } }
  const rotated = await db.write(enter(admin), (tx) =>
    rotateSecret(tx, by, endpointId.toUpperCase(), rotation),
  )
  const { rows } = await database.admin.query('SELECT secret FROM webhook_endpoints')
  const stored = { secret: rows[0]?.secret, previousSecret: null, previousSecretExpiresAt: null }
  const read = openEndpointSecrets(testKeys, { tenantId, id: endpointId, ...stored }, new Date())
  t.strictSame(read, [rotated?.secret], 'the worker can read it')
})

t.test('a time of a request is one that a Date and PostgreSQL can represent', async (t) => {
  const app = Fastify()
  await app.register(schemaCompilers)
  const accepts = app.validatorCompiler?.({ schema: Time, method: 'POST', url: '/' })
  for (const text of [
    '0001-01-01T00:00:00Z',
    '2026-11-22T10:00:00.123456+14:00',
    '2026-11-22T10:00:00-12:00',
    '9999-12-31T23:59:59.999Z',
  ]) {
    t.equal(accepts?.(text), true, text)
  }
  for (const text of [
    '0000-01-01T00:00:00Z',
    '0000-12-31T23:59:59-12:00',
    '0001-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-01:00',
    '9999-12-31T23:59:60Z',
    '2016-12-31T23:59:60Z',
    '2026-11-22T10:00:00+16:00',
    '2026-11-22T10:00:00-23:59',
    '2026-02-30T00:00:00Z',
    '2026-11-22',
  ]) {
    t.equal(accepts?.(text), false, text)
  }
})

t.test('what PostgreSQL cannot take is 400, never 500', async (t) => {
  const test = await build(t, { OPERATORS: 'demo:olga' })
  const admin = await createUser(test.database, { role: 'admin' })
  await addIdentity(test, admin.userId, 'olga')
  const { cookie } = await signIn(test, admin)
  const send = as(test, { cookie })
  const endpoint = await createEndpoint(test.database, admin, { url: 'https://8.8.8.8/' })
  const replay = `/webhook-endpoints/${endpoint}/replay`
  const far = '9999-12-31T23:59:59-12:00'
  const year0 = { from: '0000-01-01T00:00:00Z', to: '0000-01-02T00:00:00Z' }
  const answers = {
    'expiresAt in year 0': await send('POST', '/auth/tokens', {
      name: 'x',
      permissions: null,
      expiresAt: year0.to,
    }),
    'expiresAt beyond year 9999': await send('POST', '/auth/tokens', {
      name: 'x',
      permissions: null,
      expiresAt: far,
    }),
    'a replay in year 0': await send('POST', replay, year0),
    'a replay beyond year 9999': await send('POST', replay, { from: year0.from, to: far }),
    'a replay form in year 0': await send(
      'GET',
      `/app/webhooks/${endpoint}/replays/new?from=0000-01-01T00:00&to=0000-01-02T00:00`,
    ),
    'a confirmed replay in year 0': await send('POST', `/app/webhooks/${endpoint}/replays`, {
      submission: crypto.randomUUID(),
      ...year0,
    }),
    'a replay of billing events in year 0': await send('POST', '/billing/events/replay', {
      status: 'dead',
      ...year0,
    }),
    'a far offset': await send('GET', '/billing/events?from=2026-01-01T00:00:00%2B20:00'),
    'NUL in a type': await send('GET', '/billing/events?type=a%00'),
    'NUL in a type of the page': await send('GET', '/app/billing?type=a%00'),
    'NUL in a cursor': await send('GET', `/tenants?cursor=${cursorOf('tenants', ['a\0', id])}`),
  }
  for (const [name, { statusCode }] of Object.entries(answers)) t.equal(statusCode, 400, name)
  t.notMatch(test.log.join(''), /"level":"(warn|error)"/, 'before the database is asked')
})

/** A cursor with the checksum of the list: anyone can compute it. */
function cursorOf(list: string, position: readonly string[]): string {
  const text = Buffer.from(JSON.stringify(position)).toString('base64url')
  return sha256(`${list}:${text}`).subarray(0, 8).toString('base64url') + text
}
