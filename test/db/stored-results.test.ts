import t from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { setQuota } from '#src/auth/members/usage.ts'
import { maxKeysOfPart } from '#src/db/idempotency.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { eraseAll } from '#test/auth/erasure/support.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { serviceOwner } from '#test/support/callers/service-owner.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { patient } from '#test/support/database/open.ts'
import { untilInFeed } from '#test/support/receiver/until-in-feed.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

/** For the tests that look at tenants of their own only. */
const test = await build(t)

/*
 * Neither keys of requests nor deletions pass by the budgets of a tenant.
 */

const large = 'a'.repeat(50_000)
/** Its post is kept whole for a key. */
const kept = 'a'.repeat(14_000)

async function usageOf({ database }: TestApp, tenantId: string) {
  const { rows } = await database.admin.query(
    'SELECT resource_rows::int, resource_bytes::int, event_rows::int, event_bytes::int FROM counted_usage($1)',
    [tenantId],
  )
  return rows[0] ?? {}
}

/** Creates a post with a key. */
function creator({ app }: TestApp, headers: Record<string, string>) {
  return (key: string, body = large) =>
    app.inject({
      method: 'POST',
      url: '/posts',
      headers: { ...headers, 'idempotency-key': key },
      body: { title: 'a', body },
    })
}

t.test('stored results of requests count against the quota of resources', async (t) => {
  const test = await build(t, { QUOTA_RESOURCES: '1000/1' })
  const { user, cookie, send } = await owner(test, { role: 'admin' })
  const create = creator(test, { cookie })
  let refused: Awaited<ReturnType<typeof create>> | null = null
  for (let n = 0; refused === null && n < 100; n += 1) {
    const answer = await create(`key-${n}`, kept)
    if (answer.statusCode !== 201) refused = answer
    else t.equal((await send('DELETE', `/posts/${answer.json().id}`)).statusCode, 204)
  }
  t.equal(refused?.statusCode, 409)
  t.match(refused?.json(), { type: '/docs/errors/quota-exceeded' })
  const { resource_rows: rows, resource_bytes: bytes } = await usageOf(test, user.tenantId)
  t.equal(rows, 0, 'every post is deleted')
  t.ok(bytes > 900_000, `${bytes} bytes of results`)
  await test.database.admin.query(
    `UPDATE idempotency_keys SET created_at = now() - interval '2 days'`,
  )
  await test.database.admin.query('SELECT prune_idempotency_keys(1000)')
  t.equal((await usageOf(test, user.tenantId)).resource_bytes, 0, 'they expire')
})

t.test('what an editor has filled, an admin can free', async (t) => {
  const test = await build(t, { QUOTA_RESOURCES: '1000/1' })
  const { user, send } = await owner(test, { role: 'admin' })
  const { userId } = await createUser(test.database, { role: 'admin' })
  await test.database.admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'editor')`,
    [user.tenantId, userId],
  )
  const create = creator(test, await signIn(test, { userId, tenantId: user.tenantId }))
  const posts: number[] = []
  let status = 201
  while (status === 201) {
    const answer = await create(`key-${posts.length}`, kept)
    status = answer.statusCode
    if (status === 201) posts.push(answer.json().id)
  }
  t.equal(status, 409)
  const write = async () => (await send('POST', '/posts', { title: 'a', body: kept })).statusCode
  for (const id of posts) t.equal((await send('DELETE', `/posts/${id}`)).statusCode, 204)
  while ((await create(`more-${posts.length}`, kept)).statusCode === 201) posts.push(0)
  t.equal(await write(), 201, 'a quarter is left to the others')
  const { resource_bytes: full } = await usageOf(test, user.tenantId)
  t.ok(full > 500_000, `${full} bytes, most of them results`)

  t.equal((await send('DELETE', `/users/${userId}`)).statusCode, 204)
  for (const { id } of (await send('GET', '/posts?limit=100')).json().data) {
    t.equal((await send('DELETE', `/posts/${id}`)).statusCode, 204)
  }
  await eraseAll(test.database)
  t.equal((await usageOf(test, user.tenantId)).resource_bytes, 0)
  t.equal(await write(), 201)
})

t.test('results of former members are deleted, of those who came back not', async (t) => {
  const { database } = test
  const { user, send } = await owner(test, { role: 'admin' })
  const members = await Promise.all(
    ['gone', 'back'].map(async () => {
      const { userId } = await createUser(database, { role: 'admin' })
      const join = () =>
        database.admin.query(
          `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'editor')`,
          [user.tenantId, userId],
        )
      await join()
      const create = creator(test, await signIn(test, { userId, tenantId: user.tenantId }))
      t.equal((await create('one', 'x')).statusCode, 201)
      t.equal((await send('DELETE', `/users/${userId}`)).statusCode, 204)
      return { userId, join }
    }),
  )
  await members[1]?.join()
  await eraseAll(database)
  const { rows } = await database.admin.query<{ holder: string }>(
    'SELECT holder FROM idempotency_keys WHERE tenant_id = $1',
    [user.tenantId],
  )
  t.strictSame(rows, [{ holder: `person ${members[1]?.userId}` }])
})

t.test('a large result is kept without what the request contains', async (t) => {
  const { user, cookie } = await owner(test, { role: 'admin' })
  const create = creator(test, { cookie })
  const size = async () => {
    const { rows } = await test.database.admin.query<{ bytes: number }>(
      'SELECT octet_length(result) AS bytes FROM idempotency_keys WHERE holder = $1 ORDER BY 1 DESC',
      [`person ${user.userId}`],
    )
    return rows.map(({ bytes }) => bytes)
  }
  const first = await create('one')
  t.equal(first.json().body, large)
  t.ok(Math.max(...(await size())) < 1_000, `${await size()} bytes`)
  const again = await create('one')
  t.equal(again.headers['idempotent-replayed'], 'true')
  t.equal(again.body, first.body, 'byte for byte')
  t.equal(again.headers.etag, first.headers.etag)

  const change = () =>
    test.app.inject({
      method: 'PATCH',
      url: `/posts/${first.json().id}`,
      headers: { cookie, 'idempotency-key': 'two' },
      body: { title: 'b' },
    })
  t.equal((await change()).json().body, large, 'the request has not contained it')
  t.ok(Math.max(...(await size())) < 1_000, `${await size()} bytes`)
  const repeated = await change()
  t.equal(repeated.statusCode, 409, 'and it is not carried out again')
  t.match(repeated.json().detail, /carried out.*too large to be kept/)
  t.equal(repeated.headers['idempotent-replayed'], undefined)
})

t.test('large is a result by its bytes, whatever its letters are', async (t) => {
  const { cookie } = await owner(test, { role: 'admin' })
  const { id } = (await creator(test, { cookie })('one', '語'.repeat(9_000))).json()
  const change = () =>
    test.app.inject({
      method: 'PATCH',
      url: `/posts/${id}`,
      headers: { cookie, 'idempotency-key': 'two' },
      body: { title: 'b' },
    })
  t.equal((await change()).statusCode, 200)
  t.match((await change()).json().detail, /too large to be kept/)
})

t.test('a person and a service have a limited number of keys, and replays go on', async (t) => {
  const { user, cookie } = await owner(test, { role: 'admin' })
  const service = await serviceOwner(test)
  const { id, token } = await service.make(['post:create', 'post:read'])
  const holders = [
    [{ cookie }, `person ${user.userId}`],
    [{ authorization: `Bearer ${token}` }, `service ${id} ${service.user.tenantId}`],
  ] as const
  for (const [headers, holder] of holders) {
    const create = creator(test, headers)
    t.equal((await create('first', 'x')).statusCode, 201)
    await test.database.admin.query(
      `INSERT INTO idempotency_keys (holder, key_hash, request_hash)
       SELECT $1, set_byte(sha256(n::text::bytea), 0, get_byte(sha256('another'), 0)), sha256('')
       FROM generate_series(1, ${maxKeysOfPart}) AS n`,
      [holder],
    )
    const beyond = await create('another', 'x')
    t.equal(beyond.statusCode, 429, beyond.body)
    t.equal(beyond.headers['retry-after'], '60')
    t.equal((await create('elsewhere', 'x')).statusCode, 201, 'the other parts have room')
    t.equal((await create('first', 'x')).headers['idempotent-replayed'], 'true')
  }
})

t.test('a rotation with a key is possible in a tenant that is out of space', async (t) => {
  const { admin } = test.database
  const { user, cookie, send } = await owner(test, { role: 'admin' })
  const id = await createEndpoint(test.database, user, { url: 'https://8.8.8.8/' })
  await admin.query('UPDATE tenant_usage SET max_resource_bytes = 0')
  const rotate = (key?: string) =>
    test.app.inject({
      method: 'POST',
      url: `/webhook-endpoints/${id}/rotate-secret`,
      headers: { cookie, 'sec-fetch-site': 'same-origin', ...(key && { 'idempotency-key': key }) },
    })
  const first = await rotate('one')
  t.equal(first.statusCode, 200, first.body)
  const again = await rotate('one')
  t.equal(again.headers['idempotent-replayed'], 'true')
  t.equal(again.json().secret, first.json().secret)
  t.equal((await send('POST', '/posts', { title: 'a', body: 'b' })).statusCode, 409)
  await admin.query('UPDATE tenant_usage SET resource_bytes = 1048576')
  t.equal((await rotate('two')).statusCode, 409, 'the reserve is bounded')
  t.equal((await rotate()).statusCode, 200, 'without a key nothing is stored')
})

t.test('without a quota of resources, results of requests are stored', async (t) => {
  const off = await build(t, { QUOTA_RESOURCES: 'off' })
  for (const world of [off, test]) {
    const { user, cookie } = await owner(world, { role: 'admin' })
    const systemDb = openSystemDatabase(world.database.workerUrl, 1, patient)
    t.teardown(() => systemDb.close())
    if (world === test) {
      await setQuota(systemDb, user.tenantId, { resources: 'off', events: null })
    }
    const create = creator(world, { cookie })
    const first = await create('one', 'x')
    t.equal(first.statusCode, 201, first.body)
    t.equal((await create('one', 'x')).headers['idempotent-replayed'], 'true')
  }
})

t.test('a deletion over the budget publishes the id only, against a small reserve', async (t) => {
  const { user, send } = await owner(test, { role: 'admin' })
  const ids: number[] = []
  for (let n = 0; n < 3; n += 1) {
    ids.push((await send('POST', '/posts', { title: 'a', body: large })).json().id)
  }
  const remove = () => send('DELETE', `/posts/${ids.shift()}`)
  const newest = async () => {
    await untilInFeed(test.database)
    const { data } = (await send('GET', '/events')).json()
    return data.at(-1).data
  }
  t.equal((await remove()).statusCode, 204)
  t.equal((await newest()).body, large, 'within the budget the whole post')
  await test.database.admin.query('UPDATE tenant_usage SET max_event_rows = 1')
  const [second] = ids
  t.equal((await remove()).statusCode, 204)
  t.strictSame(await newest(), { id: second })
  t.equal((await send('PATCH', `/posts/${ids[0]}`, { title: 'b' })).statusCode, 409, 'no change')
  const reserve = 1_000
  await test.database.admin.query(
    `UPDATE tenant_usage SET event_rows = max_event_rows + ${reserve} WHERE tenant_id = $1`,
    [user.tenantId],
  )
  const answer = await remove()
  t.equal(answer.statusCode, 409, 'and beyond the reserve nothing')
  t.match(answer.json(), { type: '/docs/errors/quota-exceeded' })
})
