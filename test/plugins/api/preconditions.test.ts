import Fastify from 'fastify'
import t from 'tap'
import type { TestUser } from '#dev/testing/people.ts'
import preconditions from '#plugins/api/preconditions.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { createChain } from '#test/support/callers/chain.ts'
import { createOrder, createTestPost } from '#test/support/callers/objects.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

/** For the tests that look at tenants of their own only. */
const test = await build(t)

/** Every resource that changes: an object of it, and a change. */
const resources: readonly {
  name: string
  create(test: TestApp, user: TestUser): Promise<string>
  change: object
  another: object
  deletes: boolean
}[] = [
  {
    name: 'an order',
    create: async ({ database }, user) => `/orders/${await createOrder(database, user)}`,
    change: { shippingAddress: addressIn('Porto') },
    another: { shippingAddress: addressIn('Faro') },
    deletes: false,
  },
  {
    name: 'a post',
    create: async ({ database }, user) => `/posts/${await createTestPost(database, user.tenantId)}`,
    change: { title: 'One' },
    another: { title: 'Two' },
    deletes: true,
  },
  {
    name: 'a document',
    create: async ({ database }, user) =>
      `/documents/${(await createChain(database, user)).documentId}`,
    change: { title: 'One' },
    another: { title: 'Two' },
    deletes: false,
  },
  {
    name: 'a folder',
    async create({ database }, user) {
      const { folderId, documentId } = await createChain(database, user)
      await database.admin.query('DELETE FROM documents WHERE id = $1', [documentId])
      return `/folders/${folderId}`
    },
    change: { name: 'One' },
    another: { name: 'Two' },
    deletes: true,
  },
  {
    name: 'a team',
    async create({ database }, user) {
      const { rows } = await database.admin.query(
        `INSERT INTO teams (tenant_id, name) VALUES ($1, 'A team') RETURNING id`,
        [user.tenantId],
      )
      return `/teams/${rows[0]?.id}`
    },
    change: { name: 'One' },
    another: { name: 'Two' },
    deletes: true,
  },
  {
    name: 'a webhook endpoint',
    create: async ({ database }, user) =>
      `/webhook-endpoints/${await createEndpoint(database, user, { url: 'https://a.example' })}`,
    change: { description: 'One' },
    another: { description: 'Two' },
    deletes: true,
  },
]

for (const { name, create, change, another, deletes } of resources) {
  t.test(`${name} is changed only as it was read`, async (t) => {
    const { user, ask } = await open()
    const url = await create(test, user)
    const read = await ask('GET', url)
    const tag = String(read.headers.etag)
    t.match(tag, /^"[\w-]{22}"$/)
    t.equal((await ask('GET', url)).headers.etag, tag, 'the same object has the same tag')

    const changed = await ask('PATCH', url, change, { 'if-match': tag })
    t.equal(changed.statusCode, 200)
    const newTag = String(changed.headers.etag)
    t.not(newTag, tag)
    t.equal((await ask('GET', url)).headers.etag, newTag, 'the response of a change has the tag')

    const late = await ask('PATCH', url, another, { 'if-match': tag })
    t.equal(late.statusCode, 412)
    t.match(late.json(), { type: '/docs/errors/precondition-failed', status: 412 })
    t.equal((await ask('GET', url)).headers.etag, newTag, 'nothing was changed')
    t.equal((await ask('PATCH', url, another, { 'if-match': `"x", ${newTag}` })).statusCode, 200)
    t.equal((await ask('PATCH', url, change, { 'if-match': '*' })).statusCode, 200)
    const last = String((await ask('PATCH', url, another)).headers.etag)
    if (!deletes) return
    t.equal((await ask('DELETE', url, undefined, { 'if-match': tag })).statusCode, 412)
    t.equal((await ask('DELETE', url, undefined, { 'if-match': last })).statusCode, 204)
    t.equal((await ask('PATCH', url, change, { 'if-match': last })).statusCode, 404)
  })

  t.test(`of two changes of ${name} at once one is lost by nobody`, async (t) => {
    const { user, ask } = await open()
    const url = await create(test, user)
    const tag = String((await ask('GET', url)).headers.etag)
    const answers = await Promise.all(
      [change, another].map((body) => ask('PATCH', url, body, { 'if-match': tag })),
    )
    t.strictSame(answers.map(({ statusCode }) => statusCode).toSorted(), [200, 412])
  })
}

t.test('what has not changed is not sent again', async (t) => {
  const { user, ask } = await open()
  const url = `/orders/${await createOrder(test.database, user)}`
  const tag = String((await ask('GET', url)).headers.etag)
  for (const known of [tag, `W/${tag}`, `"x", ${tag}`, '*']) {
    const answer = await ask('GET', url, undefined, { 'if-none-match': known })
    t.equal(answer.statusCode, 304, known)
    t.equal(answer.body, '')
    t.equal(answer.headers.etag, tag)
    t.equal(answer.headers['content-type'], undefined)
    t.equal(answer.headers['cache-control'], 'no-store')
  }
  for (const known of ['"x"', tag.replaceAll('"', ''), '']) {
    t.equal(
      (await ask('GET', url, undefined, { 'if-none-match': known })).statusCode,
      200,
      `not ${known}`,
    )
  }
  await ask('PATCH', url, { shippingAddress: addressIn('Porto') })
  t.equal((await ask('GET', url, undefined, { 'if-none-match': tag })).statusCode, 200)
  const { rows } = await test.database.admin.query('DELETE FROM sessions RETURNING 1')
  t.ok(rows.length > 0)
  t.equal((await ask('GET', url, undefined, { 'if-none-match': '*' })).statusCode, 401)
})

t.test('a created object has its tag', async (t) => {
  const { ask } = await open()
  const created = await ask('POST', '/posts', { title: 'A title', body: 'A body' })
  const url = String(created.headers.location)
  t.equal((await ask('GET', url)).headers.etag, created.headers.etag)
  const tag = String(created.headers.etag)
  t.equal((await ask('PATCH', url, { title: 'Another' }, { 'if-match': tag })).statusCode, 200)
})

t.test('weak tags never match, and what is no tag is refused', async (t) => {
  const { user, ask } = await open()
  const url = `/posts/${await createTestPost(test.database, user.tenantId)}`
  const tag = String((await ask('GET', url)).headers.etag)
  const change = { title: 'Another' }
  const send = async (header: string) =>
    (await ask('PATCH', url, change, { 'if-match': header })).statusCode
  t.equal(await send(`W/${tag}`), 412)
  t.equal(await send('""'), 412)
  for (const header of [
    '',
    'x',
    tag.slice(1),
    `${tag};`,
    `${tag},`,
    `*, ${tag}`,
    `"${'a'.repeat(1_000)}"`,
  ]) {
    const answer = await ask('PATCH', url, change, { 'if-match': header })
    t.equal(answer.statusCode, 400, header)
    t.match(answer.json(), { errors: [{ in: 'header', pointer: '/if-match' }] })
  }
  t.equal((await ask('GET', url)).headers.etag, tag)
})

t.test('an operation that cannot check If-Match refuses it, after 401 and 403', async (t) => {
  const { ask } = await open()
  const viewer = await owner(test)
  const header = { 'if-match': '"x"' }
  for (const [method, url] of [
    ['GET', '/orders'],
    ['POST', '/orders'],
    ['PATCH', '/users/1'],
    ['DELETE', '/users/1'],
  ] as const) {
    const payload = method === 'PATCH' ? { role: 'admin' } : undefined
    const answer = await ask(method, url, payload, header)
    t.equal(answer.statusCode, 400, `${method} ${url}`)
  }
  for (const [method, path, payload] of [
    ['POST', '/posts', { title: 'x', body: 'x' }],
    ['PATCH', '/posts/1', { title: 'x' }],
    ['DELETE', '/posts/1'],
  ] as const) {
    const answer = await ask(method, path, payload, { 'if-none-match': '*' })
    t.equal(answer.statusCode, 400, `${method} with If-None-Match`)
    t.match(answer.body, 'takes no If-None-Match', `${method} with If-None-Match`)
  }
  const inject = (headers: object) =>
    test.app.inject({ method: 'GET', url: '/users', headers: { ...header, ...headers } })
  t.equal((await inject({})).statusCode, 401)
  t.equal((await inject({ cookie: viewer.cookie })).statusCode, 403)
})

t.test('a change that forgets to check If-Match does not answer', async (t) => {
  const app = Fastify()
  await app.register(preconditions)
  const schema = {}
  t.throws(() => {
    const config = { access: { resource: 'order', action: 'update' } } as const
    app.patch('/things', { config, schema }, () => ({}))
  }, /does not state config.versioned/)
  const config = {
    access: { resource: 'order', action: 'update' },
    versioned: { type: 'object', additionalProperties: true },
  } as never
  app.patch('/forgetful', { config, schema: {} }, () => ({ a: 1 }))
  const answer = await app.inject({
    ...{ method: 'PATCH', url: '/forgetful', payload: {} },
    headers: { 'if-match': '"x"' },
  })
  t.equal(answer.statusCode, 500)
})

function addressIn(city: string) {
  return { name: 'Ada', line1: '1 Harbour Street', city, postalCode: '1100-012', country: 'PT' }
}

async function open() {
  const { user, cookie } = await owner(test, { role: 'admin' })
  const ask = (
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    url: string,
    payload?: object,
    headers: object = {},
  ) =>
    test.app.inject({ method, url, ...(payload && { payload }), headers: { cookie, ...headers } })
  return { user, ask }
}
