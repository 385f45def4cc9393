import t, { type Test } from 'tap'
import { comparable } from '#dev/testing/access/request.ts'
import { as, createUser, signIn, type TestUser } from '#dev/testing/people.ts'
import { testConfig } from '#dev/testing/settings.ts'
import { buildApp } from '#src/app.ts'
import { createLogger } from '#src/observability/logger.ts'
import { addAppToken } from '#test/support/callers/app-caller.ts'
import { createChain } from '#test/support/callers/chain.ts'
import { createOrder, createTestPost } from '#test/support/callers/objects.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { pgbouncer, startPgbouncer } from '#test/support/database/pgbouncer.ts'
import { startProxy } from '#test/support/database/postgres-proxy.ts'
import { untilBlocked, untilTrue } from '#test/support/database/until.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

/* Writes that are one packet: decided on the facts that were seen last, which the database compares. */

// With everything that has another form in JSON than in a column.
const shippingAddress = {
  ...{ name: 'Ada "Quote" \\ Öß', line1: '1 Quay', city: 'Bath' },
  ...{ postalCode: 'BA1', country: 'GB' },
}
const order = {
  lineItems: [{ sku: 'GATE', quantity: 1, unitPrice: 900 }],
  shippingAddress,
  cardLast4: '0042',
}
const post = { title: 'A "title" \\', body: 'Two\nlines' }

t.test('a declared row is created, changed and deleted in one round trip', async (t) => {
  const { database, proxy, send, user } = await openCounted(t)
  // Without an endpoint nobody is notified, which is a packet of its own that nothing waits for.
  const { folderId } = await createChain(database, user)
  const id = await createOrder(database, user)
  const posts = [await createTestPost(database, user.tenantId), 0, 0]
  posts[1] = await createTestPost(database, user.tenantId)
  posts[2] = await createTestPost(database, user.tenantId)
  const writes = [
    ['POST', '/orders', order, 201],
    ['PATCH', `/orders/${id}`, { shippingAddress }, 200],
    ['POST', '/posts', post, 201],
    ['PATCH', `/posts/${posts[0]}`, { title: 'Another' }, 200],
    ['DELETE', `/posts/${posts[1]}`, undefined, 204],
    ['POST', '/documents', { ...post, folderId }, 201],
  ] as const
  t.equal((await send('POST', '/orders', order)).statusCode, 201, 'opens the connection')
  for (const [method, url, body, status] of writes) {
    await settled(database)
    proxy.reset()
    const { statusCode } = await send(method, url, body)
    t.equal(statusCode, status, `${method} ${url}`)
    t.equal(proxy.roundTrips(), 1, `${method} ${url}`)
  }
})

t.test('a change with If-Match is one round trip, whatever the tag was read with', async (t) => {
  const { database, config, proxy, cookie, send, user } = await openCounted(t)
  const other = await buildApp(config, createLogger('silent'))
  t.teardown(() => other.close())
  const sendOther = as({ app: other }, { cookie })
  const { folderId } = await createChain(database, user)
  const { headers } = await send('POST', '/posts', post)
  t.equal((await send('POST', '/orders', order)).statusCode, 201, 'opens the connection')
  const urls = [
    `/orders/${await createOrder(database, user)}`,
    (await send('POST', '/documents', { ...post, folderId })).headers.location,
    headers.location,
  ].map(String)
  const last = String(urls.at(-1))
  let tag = ''
  const inOneTrip = async (method: 'PATCH' | 'DELETE', url: string, sent: string, status = 200) => {
    await settled(database)
    proxy.reset()
    const body = method === 'DELETE' ? undefined : changeOf(url)
    const answer = await send(method, url, body, { 'if-match': sent })
    t.equal(answer.statusCode, status, `${method} ${url} ${sent}`)
    t.equal(proxy.roundTrips(), 1, `${method} ${url} ${sent}`)
    tag = String(answer.headers.etag)
  }
  await inOneTrip('PATCH', last, String(headers.etag))
  for (const url of urls) {
    await inOneTrip('PATCH', url, String((await send('GET', url)).headers.etag))
    await inOneTrip('PATCH', url, tag)
    t.equal((await send('GET', url)).headers.etag, tag)
    await inOneTrip('PATCH', url, `"x", ${tag} , W/"y"`)
    await inOneTrip('PATCH', url, '*')
    await inOneTrip('PATCH', url, String((await sendOther('GET', url)).headers.etag))
  }
  await inOneTrip('DELETE', last, tag, 204)
})

t.test('a row that has changed since it was read is not changed by one packet', async (t) => {
  const { database, config, cookie, send, user } = await openCounted(t)
  const other = await buildApp(config, createLogger('silent'))
  t.teardown(() => other.close())
  const sendOther = as({ app: other }, { cookie })
  const stranger = await createUser(database, { role: 'admin' })
  const strange = as({ app: other }, await signIn({ config, database }, stranger))
  await createEndpoint(database, user, { url: 'https://receiver.example' })
  const sql = (text: string) => () => database.admin.query(text)
  const addressOf = (sets: string) => sql(`UPDATE orders SET shipping_address = ${sets}`)
  const ofPosts = (sets: string) => sql(`UPDATE posts SET ${sets}`)
  for (const [base, make, changes] of [
    [
      '/orders',
      (owner: TestUser) => createOrder(database, owner),
      [
        addressOf(`shipping_address || '{"line2": "Flat 1"}'`),
        addressOf(`shipping_address || '{"city": "bath"}'`),
        sql(`UPDATE orders SET line_items = line_items || line_items`),
        sql(`UPDATE orders SET updated_at = updated_at + interval '1 ms'`),
      ],
    ],
    [
      '/posts',
      ({ tenantId }: TestUser) => createTestPost(database, tenantId),
      [
        ofPosts(`department = ''`),
        ofPosts(`title = title || ' '`),
        ofPosts(`author_service_id = gen_random_uuid()`),
      ],
    ],
  ] as const) {
    const url = `${base}/${await make(user)}`
    const tagged = async () => ({ 'if-match': String((await send('GET', url)).headers.etag) })
    const change = changeOf(url)
    const mine = await tagged()
    const another = await send('GET', `${base}/${await make(user)}`)
    for (const [name, headers] of [
      ['another row', { 'if-match': String(another.headers.etag) }],
      ['no tag at all', { 'if-match': '"x"' }],
      ['a weak tag', { 'if-match': `W/${mine['if-match']}` }],
    ] as const) {
      await refused(name, () => send('PATCH', url, change, headers), 412)
    }
    for (const [process, sends] of [
      ['the same process', send],
      ['another process', sendOther],
    ] as const) {
      const headers = await tagged()
      t.equal((await sends('PATCH', url, changeOf(url))).statusCode, 200)
      await refused(process, () => send('PATCH', url, change, headers), 412)
    }
    for (const [index, alter] of changes.entries()) {
      const headers = await tagged()
      await alter()
      await refused(`change ${index}`, () => send('PATCH', url, change, headers), 412)
      if (base === '/posts') {
        await refused(`change ${index}`, () => send('DELETE', url, undefined, headers), 412)
      }
      await database.admin.query(`UPDATE orders SET shipping_address = $1`, [shippingAddress])
    }
    const headers = await tagged()
    const missing = `${base}/987654321`
    await strange('GET', '/me')
    for (const method of base === '/posts' ? (['PATCH', 'DELETE'] as const) : ['PATCH' as const]) {
      const ask = (at: string) =>
        strange(method, at, method === 'PATCH' ? change : undefined, headers)
      const foreign = await refused('of another tenant', () => ask(url), 404)
      t.strictSame(comparable(foreign), comparable(await ask(missing)), 'like a missing one')
    }
    await database.admin.query(`DELETE FROM ${base.slice(1)}`)
    await refused('gone', () => send('PATCH', url, change, headers), 404)
  }

  async function refused<Answer extends { statusCode: number }>(
    name: string,
    ask: () => Promise<Answer>,
    status: number,
  ) {
    const before = await rowsOf(database)
    const answer = await ask()
    t.equal(answer.statusCode, status, name)
    t.strictSame(await rowsOf(database), before, `${name}: nothing is written`)
    return answer
  }
})

t.test('of all who change the version that they have read, one does', async (t) => {
  const { database, config, app } = await openCounted(t)
  const rounds = 12
  // Of several tenants, whose writes share packets.
  const tenants = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const { tenantId } = await createUser(database)
      const members = Array.from({ length: 4 }, async () => {
        const user = await createUser(database, { role: 'admin', tenantId })
        return as({ app }, await signIn({ config, database }, user))
      })
      return { id: await createTestPost(database, tenantId), people: await Promise.all(members) }
    }),
  )
  const everybody = tenants.flatMap(({ id, people }) => people.map((send, n) => ({ id, send, n })))
  const commits = new Set<string>()
  for (let round = 0; round < rounds; round += 1) {
    const read = await Promise.all(
      everybody.map(async (one) => {
        const { headers } = await one.send('GET', `/posts/${one.id}`)
        return { ...one, headers: { 'if-match': String(headers.etag) } }
      }),
    )
    const asked = await Promise.all(
      read.map(async ({ id, send, n, headers }) => {
        const title = `${round} by ${n}`
        const { statusCode } = await send('PATCH', `/posts/${id}`, { title }, headers)
        return { id, title, statusCode }
      }),
    )
    const { rows } = await database.admin.query('SELECT id::int, title, xmin::text FROM posts')
    for (const { id, title, xmin } of rows) {
      commits.add(xmin)
      const mine = asked.filter((one) => one.id === id)
      const won = mine.filter(({ statusCode }) => statusCode === 200)
      t.strictSame(won, [{ id, title, statusCode: 200 }])
      const lost = mine.filter(({ statusCode }) => statusCode === 412)
      t.equal(lost.length, mine.length - 1)
    }
  }
  const { rows } = await database.admin.query('SELECT count(*)::int FROM outbound_events')
  t.equal(rows[0].count, rounds * tenants.length, 'one event for each change')
  t.ok(commits.size < rounds * tenants.length, `${commits.size} commits`)
})

t.test('of those who delete and change a row at once, one does', async (t) => {
  const { database, send, user } = await openCounted(t)
  await send('GET', '/me')
  for (let round = 0; round < 20; round += 1) {
    const url = `/posts/${await createTestPost(database, user.tenantId)}`
    const headers = { 'if-match': String((await send('GET', url)).headers.etag) }
    const answers = await Promise.all([
      send('PATCH', url, changeOf(url), headers),
      send('DELETE', url, undefined, headers),
      send('DELETE', url, undefined, headers),
    ])
    const statuses = answers.map(({ statusCode }) => statusCode)
    const isChanged = statuses[0] === 200
    t.strictSame(statuses.toSorted(), isChanged ? [200, 412, 412] : [204, 404, 404])
  }
})

t.test('a change with If-Match that waited for another change is refused', async (t) => {
  const { database, send, user } = await openCounted(t)
  const id = await createTestPost(database, user.tenantId)
  const headers = { 'if-match': String((await send('GET', `/posts/${id}`)).headers.etag) }
  const holder = await database.admin.connect()
  t.teardown(() => holder.release())
  await holder.query('BEGIN')
  await holder.query(`UPDATE posts SET title = 'first' WHERE id = $1`, [id])
  const changing = send('PATCH', `/posts/${id}`, post, headers)
  await untilBlocked(database)
  await holder.query('COMMIT')
  t.equal((await changing).statusCode, 412)
  t.match((await send('GET', `/posts/${id}`)).json(), { title: 'first' })
})

t.test('a keyed change with If-Match is replayed although the row has changed', async (t) => {
  const { database, send, user } = await openCounted(t)
  const url = `/posts/${await createTestPost(database, user.tenantId)}`
  const tag = String((await send('GET', url)).headers.etag)
  const headers = { 'if-match': tag, 'idempotency-key': 'a-key' }
  const first = await send('PATCH', url, post, headers)
  t.equal(first.statusCode, 200)
  t.equal((await send('PATCH', url, { title: 'Another' })).statusCode, 200)
  const again = await send('PATCH', url, post, headers)
  t.match(again, { statusCode: 200, body: first.body, headers: { 'idempotent-replayed': 'true' } })
  const late = { ...headers, 'idempotency-key': 'another' }
  t.equal((await send('PATCH', url, post, late)).statusCode, 412)
})

t.test('tokens and services write in one round trip', async (t) => {
  const { database, proxy, app, send, user } = await openCounted(t)
  const { token } = (await send('POST', '/auth/tokens', { name: 'ci', permissions: null })).json()
  const permissions = ['post:create', 'post:update']
  const service = (await send('POST', '/service-tokens', { name: 'ci', permissions })).json()
  await database.admin.query('UPDATE api_tokens SET last_used_at = now()')
  await database.admin.query('UPDATE service_tokens SET last_used_at = now()')
  const id = await createTestPost(database, user.tenantId)
  t.equal((await send('POST', '/orders', order)).statusCode, 201, 'opens the connection')
  for (const authorization of [`Bearer ${token}`, `Bearer ${service.token}`]) {
    const ask = as({ app }, { authorization })
    await ask('GET', '/me')
    for (const [method, url, status] of [
      ['POST', '/posts', 201],
      ['PATCH', `/posts/${id}`, 200],
    ] as const) {
      await settled(database)
      proxy.reset()
      t.equal((await ask(method, url, post)).statusCode, status)
      t.equal(proxy.roundTrips(), 1, `${method} ${url}`)
    }
  }
  const { rows } = await database.admin.query(
    'SELECT author_id, author_service_id FROM posts WHERE id <> $1 ORDER BY id',
    [id],
  )
  t.match(rows, [
    { author_id: String(user.userId), author_service_id: null },
    { author_id: null, author_service_id: service.id },
  ])
})

t.test(
  'the app publishes in one round trip, and events for several tenants share a commit',
  async (t) => {
    const { database, proxy, app } = await openCounted(t)
    const tenants = await Promise.all(
      Array.from({ length: 12 }, async () => (await createUser(database)).tenantId),
    )
    await database.admin.query(
      `INSERT INTO app_event_types (name, description, schema) VALUES ('report.finished', 'x', $1)`,
      [{ type: 'object', required: ['pages'] }],
    )
    const { token } = await addAppToken(database)
    await database.admin.query('UPDATE app_tokens SET last_used_at = now()')
    const ask = as({ app }, { authorization: `Bearer ${token}` })
    const publish = (tenant: string | undefined, more = {}) =>
      ask('POST', `/tenants/${tenant}/events`, {
        ...{ type: 'report.finished', data: { pages: 3 } },
        ...more,
      })
    const [first, second] = tenants
    t.equal((await publish(first)).statusCode, 201, 'the type is known now')
    t.equal((await publish(first)).statusCode, 201, 'opens the connection')
    for (const [tenant, more] of [
      [first, {}],
      [second, { id: 'mine' }],
    ] as const) {
      await settled(database)
      proxy.reset()
      t.match(await publish(tenant, more), { statusCode: 201 })
      t.equal(proxy.roundTrips(), 1)
    }
    const again = await publish(second, { id: 'mine' })
    t.match(again, { statusCode: 201, headers: { 'idempotent-replayed': 'true' } })
    t.equal((await publish(second, { id: 'mine', data: { pages: 4 } })).statusCode, 409)
    t.equal((await publish('00000000-0000-4000-8000-000000000000')).statusCode, 404)
    await database.admin.query('DELETE FROM outbound_events')
    const all = [...tenants, ...tenants]
    const answers = await Promise.all(all.map((tenant) => publish(tenant)))
    t.ok(answers.every(({ statusCode }) => statusCode === 201))
    const { rows } = await database.admin.query(
      `SELECT count(DISTINCT tenant_id)::int AS tenants, count(*)::int AS events,
       count(DISTINCT xmin::text)::int AS commits FROM outbound_events`,
    )
    t.match(rows[0], { tenants: tenants.length, events: all.length })
    t.ok(rows[0].commits < all.length, `${rows[0].commits} commits`)
  },
)

t.test('the event is the one that the whole way publishes', async (t) => {
  const { database, proxy, send, user } = await openCounted(t)
  await createEndpoint(database, user, { url: 'https://receiver.example' })
  const id = await createOrder(database, user)
  const [first, second] = [
    await createTestPost(database, user.tenantId),
    await createTestPost(database, user.tenantId, 'Öffentlich "press"'),
  ]
  t.equal((await send('POST', '/orders', order)).statusCode, 201, 'opens the connection')
  const results: object[][] = []
  for (const whole of [false, true]) {
    // Facts that have changed send a write the whole way.
    const write = async (...asked: Parameters<typeof send>) => {
      const department = whole ? crypto.randomUUID() : null
      await database.admin.query('UPDATE memberships SET department = $1', [department])
      proxy.reset()
      const answer = await send(...asked)
      t.equal(proxy.roundTrips() >= 4, whole)
      return answer
    }
    const changed = await write('PATCH', `/orders/${id}`, { shippingAddress })
    const edited = await write('PATCH', `/posts/${second}`, post)
    const gone = await write('DELETE', `/posts/${whole ? second : first}`)
    t.equal(gone.statusCode, 204)
    const { rows } = await database.admin.query(
      `SELECT e.id, e.type, e.body, e.cause IS NOT NULL AS caused, d.status, a.due_at = d.next_attempt_at AS due
       FROM outbound_events e JOIN deliveries d ON d.event_id = e.id
       JOIN due_attempts a ON a.delivery_id = d.id ORDER BY e.type`,
    )
    const events = rows.map(({ body, id, ...row }) => {
      const { data, ...event } = JSON.parse(body)
      t.equal(event.id, id)
      return { ...row, event: { ...event, id: 'any', createdAt: 'any' }, data }
    })
    t.strictSame(events[0].data, changed.json(), 'the data is what the response has')
    t.strictSame(events.at(-1).data, edited.json())
    t.strictSame(Object.keys(events[0].data), Object.keys(changed.json()), 'in the same order')
    results.push(
      events.map(({ event, data, ...row }) => ({ ...row, event, keys: Object.keys(data) })),
    )
    await database.admin.query('DELETE FROM due_attempts')
    await database.admin.query('DELETE FROM deliveries')
    await database.admin.query('DELETE FROM outbound_events')
  }
  t.equal(results[0]?.length, 3)
  t.strictSame(results[0], results[1])
  const { rows: jobs } = await database.admin.query(
    `SELECT data FROM pgboss.job WHERE name = 'endpoint-turn'`,
  )
  t.equal(jobs.length, 1, 'one job waits for the endpoint')
})

t.test('orders that are created at once share commits, and each is its own', async (t) => {
  const { database, config, app } = await openCounted(t)
  const people = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const user = await createUser(database)
      const { cookie } = await signIn({ config, database }, user)
      return { ...user, send: as({ app }, { cookie }) }
    }),
  )
  await Promise.all(people.map(({ send }) => send('GET', '/me')))
  const answers = await Promise.all(
    people.flatMap(({ userId, send }) =>
      Array.from({ length: 5 }, async (_, n) => {
        const body = { ...order, cardLast4: `000${n}` }
        return { userId, n, answer: await send('POST', '/orders', body) }
      }),
    ),
  )
  for (const { userId, n, answer } of answers) {
    t.match(answer, { statusCode: 201 })
    t.match(answer.json(), { userId, cardLast4: `000${n}` })
  }
  const { rows } = await database.admin.query(
    `SELECT count(DISTINCT o.id)::int AS orders, count(DISTINCT o.xmin::text)::int AS commits
     FROM orders o JOIN memberships m ON m.tenant_id = o.tenant_id AND m.user_id = o.user_id`,
  )
  t.equal(rows[0].orders, answers.length)
  t.ok(rows[0].commits < answers.length, `${rows[0].commits} commits`)
})

t.test('an order of another tenant is changed, and its event published there', async (t) => {
  const { database, send, user } = await openCounted(t)
  const elsewhere = await createUser(database)
  await database.admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'viewer')`,
    [elsewhere.tenantId, user.userId],
  )
  const id = await createOrder(database, { ...user, tenantId: elsewhere.tenantId })
  const foreign = await createOrder(database, elsewhere)
  await send('GET', '/me')
  const changed = await send('PATCH', `/orders/${id}`, { shippingAddress })
  t.match(changed.json(), { id, shippingAddress })
  const refused = await send('PATCH', `/orders/${foreign}`, { shippingAddress })
  t.equal(refused.statusCode, 404)
  const { rows } = await database.admin.query('SELECT tenant_id, type FROM outbound_events')
  t.strictSame(rows, [{ tenant_id: elsewhere.tenantId, type: 'order.updated' }])
})

t.test('a right that another process has taken away is gone', async (t) => {
  const { database, config, send, user } = await openCounted(t)
  const other = await buildApp(config, createLogger('silent'))
  t.teardown(() => other.close())
  const boss = await createUser(database, { role: 'admin', tenantId: user.tenantId })
  const bossSends = as({ app: other }, await signIn({ config, database }, boss))
  const id = await createTestPost(database, user.tenantId)
  t.equal((await send('PATCH', `/posts/${id}`, post)).statusCode, 200)
  const demoted = await bossSends('PATCH', `/users/${user.userId}`, { role: 'viewer' })
  t.equal(demoted.statusCode, 200)
  const before = await rowsOf(database)
  for (const [method, url] of [
    ['POST', '/posts'],
    ['PATCH', `/posts/${id}`],
    ['DELETE', `/posts/${id}`],
  ] as const) {
    t.equal((await send(method, url, method === 'DELETE' ? undefined : post)).statusCode, 403, url)
  }
  t.strictSame(await rowsOf(database), before, 'nothing is written')
  t.equal((await send('POST', '/orders', order)).statusCode, 201, 'what a viewer may do goes on')
})

t.test('a change of the facts that waits for the packet comes after it', async (t) => {
  const { database, app, send, user } = await openCounted(t)
  const id = await createTestPost(database, user.tenantId)
  await send('GET', '/me')
  const holder = await database.admin.connect()
  t.teardown(() => holder.release())
  await holder.query('BEGIN')
  await holder.query('SELECT FROM posts WHERE id = $1 FOR UPDATE', [id])
  const changing = send('PATCH', `/posts/${id}`, post)
  await untilBlocked(database)
  const demoting = database.admin.query(
    `UPDATE memberships SET role = 'viewer' WHERE user_id = $1`,
    [user.userId],
  )
  await holder.query('ROLLBACK')
  t.equal((await changing).statusCode, 200)
  await demoting
  t.equal((await send('PATCH', `/posts/${id}`, post)).statusCode, 403)
  t.ok(app)
})

t.test('a statement that fails takes nothing along, and the next packet goes on', async (t) => {
  const { database, proxy, send, user } = await openCounted(t)
  await send('GET', '/me')
  await database.admin.query('UPDATE tenant_usage SET max_resource_rows = 0 WHERE tenant_id = $1', [
    user.tenantId,
  ])
  const full = await send('POST', '/orders', order)
  t.match(full, { statusCode: 409 })
  const { rows } = await database.admin.query('SELECT count(*)::int AS orders FROM orders')
  t.strictSame(rows, [{ orders: 0 }])
  await database.admin.query('UPDATE tenant_usage SET max_resource_rows = NULL')
  await settled(database)
  proxy.reset()
  t.equal((await send('POST', '/orders', order)).statusCode, 201)
  t.equal(proxy.roundTrips(), 1)
})

t.test('a row is deleted although the budget of events is used up', async (t) => {
  const { database, send, user } = await openCounted(t)
  await createEndpoint(database, user, { url: 'https://receiver.example' })
  const [first, second] = [
    await createTestPost(database, user.tenantId),
    await createTestPost(database, user.tenantId),
  ]
  await send('GET', '/me')
  await database.admin.query('UPDATE tenant_usage SET max_event_rows = 0')
  t.equal((await send('PATCH', `/posts/${first}`, post)).statusCode, 409)
  t.equal((await send('DELETE', `/posts/${first}`)).statusCode, 204)
  t.equal((await send('DELETE', `/posts/${second}`)).statusCode, 204)
})

t.test('the answer to malformed input depends on no hint', async (t) => {
  const { database, send, user } = await openCounted(t)
  t.equal((await send('POST', '/posts', { title: 1 })).statusCode, 400)
  await send('GET', '/me')
  await database.admin.query('DELETE FROM sessions WHERE user_id = $1', [user.userId])
  t.equal((await send('POST', '/posts', { title: 1 })).statusCode, 401)
})

const skip = pgbouncer === null && 'no pgbouncer on this machine: npm does not bring one along'

t.test('through PgBouncer in transaction mode', { skip }, async (t) => {
  const database = await createDatabase(t)
  const pooler = await startPgbouncer(t, database.url, 2)
  const { send, user } = await openWith(t, database, pooler.through(database.url))
  const stranger = await createUser(database, { role: 'admin' })
  await createEndpoint(database, user, { url: 'https://receiver.example' })
  const id = await createOrder(database, user)
  const foreign = await createOrder(database, stranger)
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      n % 2 === 0
        ? send('PATCH', `/orders/${n % 4 === 0 ? id : foreign}`, { shippingAddress })
        : send('POST', '/orders', order),
    ),
  )
  const statuses = answers.map(({ statusCode }) => statusCode)
  t.strictSame(
    statuses,
    Array.from({ length: 20 }, (_, n) => [200, 201, 404, 201][n % 4]),
  )
  await database.admin.query(`UPDATE sessions SET expires_at = now()`)
  t.equal((await send('POST', '/orders', order)).statusCode, 401)
})

async function openCounted(t: Test) {
  const database = await createDatabase(t)
  const proxy = await startProxy(t, database.url)
  return { database, proxy, ...(await openWith(t, database, proxy.through(database.url))) }
}

async function openWith(t: Test, database: TestDatabase, url: string) {
  const config = testConfig({ ...database, url })
  const app = await buildApp(config, createLogger('silent'))
  t.teardown(() => app.close())
  const user = await createUser(database, { role: 'admin' })
  const { cookie } = await signIn({ config, database }, user)
  // Once a minute it is noted that a session is in use, which is a packet of its own.
  await database.admin.query(`UPDATE sessions SET last_seen_at = now() + interval '1 hour'`)
  return { config, app, user, cookie, send: as({ app }, { cookie }) }
}

function changeOf(url: string): object {
  const name = `Ada ${crypto.randomUUID()}`
  return url.startsWith('/orders')
    ? { shippingAddress: { ...shippingAddress, name } }
    : { title: name }
}

async function rowsOf({ admin }: TestDatabase) {
  const { rows } = await admin.query(`
    SELECT (SELECT json_agg(p ORDER BY id) FROM posts p) AS posts,
      (SELECT json_agg(o ORDER BY id) FROM orders o) AS orders,
      (SELECT count(*) FROM outbound_events) AS events`)
  return rows
}

/** Resolves when no connection of the program waits for an answer any more. */
async function settled({ admin }: TestDatabase): Promise<void> {
  const busy = `SELECT FROM pg_stat_activity WHERE datname = current_database()
    AND usename = 'test_app' AND state <> 'idle'`
  await untilTrue(async () => (await admin.query(busy)).rowCount === 0)
}
