import pg from 'pg'
import t, { type Test } from 'tap'
import { createUser, type TestUser } from '#dev/testing/people.ts'
import { checkUsage, measureUsage, setQuota } from '#src/auth/members/usage.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { createMetrics } from '#src/observability/metrics.ts'
import { addSession, enterSession, inside, refusalOf } from '#test/db/credentials.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { patient } from '#test/support/database/open.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

t.test('counters are right under concurrency, rollback, cascade and pruning', async (t) => {
  const world = await createWorld(t)
  const { database, systemDb, tenants } = world
  const writers = await Promise.all(Array.from({ length: 8 }, () => connect(t, database)))
  await Promise.all(
    writers.map(async (client, index) => {
      for (let round = 0; round < 12; round += 1) {
        const tenant = tenants[(index + round) % tenants.length]
        await client.query('BEGIN')
        for (const text of writes) await client.query({ text, values: [tenant] })
        await client.query(round % 3 === 0 ? 'ROLLBACK' : 'COMMIT')
      }
    }),
  )
  t.strictSame(await checkUsage(systemDb, false), { tenants: 2, wrong: [] })
  const total = await usageOf(world)
  t.ok(
    Object.values(total).every((value) => Number(value) > 0),
    'something is counted',
  )

  await database.admin.query('DELETE FROM webhook_endpoints WHERE tenant_id = $1', [tenants[0]])
  await database.admin.query('DELETE FROM posts')
  await database.admin.query('DELETE FROM users WHERE own_tenant_id = $1', [tenants[0]])
  await systemDb.sql`
    SELECT FROM purge_history('00000000-0000-0000-0000-000000000000', now(), now(), 10)`
  t.strictSame(await checkUsage(systemDb, false), { tenants: 2, wrong: [] })

  await database.admin.query('DELETE FROM tenants WHERE id = $1', [tenants[0]])
  t.strictSame(await checkUsage(systemDb, false), { tenants: 1, wrong: [] })
  const { rows } = await database.admin.query('SELECT tenant_id FROM usage_changes')
  t.notOk(
    rows.some((row) => row.tenant_id === tenants[0]),
    'nothing waits for a deleted tenant',
  )
})

t.test('a writer does not wait for another writer of its tenant', async (t) => {
  const { database, systemDb, tenants } = await createWorld(t)
  const [first, second] = [await connect(t, database), await connect(t, database)]
  const insert = {
    text: `INSERT INTO posts (tenant_id, title, body) VALUES ($1, 'title', 'body')`,
    values: [tenants[0]],
  }
  await first.query('BEGIN')
  await first.query(insert)
  await second.query(`SET lock_timeout = '2s'`)
  await second.query(insert)
  await first.query('COMMIT')
  t.strictSame(await checkUsage(systemDb, false), { tenants: 2, wrong: [] })
})

t.test('wrong counters are found and corrected, while others write', async (t) => {
  const { database, systemDb, tenants } = await createWorld(t)
  const [tenant = ''] = tenants
  for (const text of writes) await database.admin.query({ text, values: [tenant] })
  await database.admin.query('UPDATE tenant_usage SET event_bytes = 5 WHERE tenant_id = $1', [
    tenant,
  ])
  // Of an open transaction neither the rows nor their change are counted yet.
  const writer = await connect(t, database)
  await writer.query('BEGIN')
  for (const text of writes) await writer.query({ text, values: [tenant] })
  const found = await checkUsage(systemDb, false)
  t.match(found.wrong, [{ tenantId: tenant }])
  t.equal(found.wrong.length, 1)
  await writer.query('COMMIT')
  t.equal((await checkUsage(systemDb, true)).wrong.length, 1)
  t.strictSame(await checkUsage(systemDb, false), { tenants: 2, wrong: [] })
})

t.test('a tenant sees its own counters, and no role changes any', async (t) => {
  const { database, systemDb, tenants, users } = await createWorld(t)
  const [tenant = '', other = ''] = tenants
  await database.admin.query(
    `INSERT INTO usage_changes
       (tenant_id, resource_rows, resource_bytes, event_rows, event_bytes)
     SELECT unnest($1::uuid[]), 0, 0, 0, 0`,
    [tenants],
  )
  const client = await connect(t, database, database.url)
  const [user] = users
  if (user === undefined) throw new Error('no user')
  const credential = await addSession(database, user)
  await client.query('BEGIN')
  await client.query('SELECT enter_session($1, 60, false)', [credential])
  for (const table of ['tenant_usage', 'usage_changes']) {
    const { rows } = await client.query(`SELECT DISTINCT tenant_id FROM ${table}`)
    t.strictSame(rows, [{ tenant_id: tenant }], table)
  }
  await client.query('ROLLBACK')
  const forbidden = [
    'UPDATE tenant_usage SET event_rows = 0',
    'DELETE FROM usage_changes',
    `SELECT add_usage('${other}', 1, 1, 1, 1)`,
    `SELECT set_quota('${other}', NULL, NULL)`,
  ]
  for (const text of forbidden) {
    await t.rejects(client.query(text), { code: '42501' }, text)
    if (!text.includes('set_quota')) {
      await t.rejects(systemDb.sql({ text }), { code: '42501' }, text)
    }
  }
})

t.test('a tenant has the limits of the setting, or its own', async (t) => {
  const { database, systemDb, tenants } = await createWorld(t)
  const [tenant = ''] = tenants
  const insert = async (quota: string) => {
    const client = await connect(t, database)
    await client.query('BEGIN')
    await client.query(`SELECT set_config('app.quota', $1, true)`, [quota])
    await client.query(`INSERT INTO posts (tenant_id, title, body) VALUES ($1, 'title', '')`, [
      tenant,
    ])
    await client.query('COMMIT')
  }
  await insert('{1,1000,0,0}')
  await t.rejects(insert('{1,1000,0,0}'), { code: 'QU001' }, 'rows')
  await t.rejects(insert('{9,9,0,0}'), { code: 'QU001' }, 'bytes')
  t.equal(
    await setQuota(systemDb, tenant, { resources: { rows: 2, bytes: 999 }, events: null }),
    true,
  )
  await insert('{1,1000,0,0}')
  await t.rejects(insert('{9,1000,0,0}'), { code: 'QU001' })
  await setQuota(systemDb, tenant, { resources: 'off', events: null })
  await insert('{1,1,0,0}')
  await setQuota(systemDb, tenant, { resources: null, events: null })
  await t.rejects(insert('{3,1000,0,0}'), { code: 'QU001' })
  t.equal(await setQuota(systemDb, crypto.randomUUID(), { resources: null, events: null }), false)
  t.strictSame(await checkUsage(systemDb, false), { tenants: 2, wrong: [] })
})

t.test('events have limits of their own', async (t) => {
  const { database, tenants } = await createWorld(t)
  const insert = async (quota: string) => {
    const client = await connect(t, database)
    await client.query('BEGIN')
    await client.query(`SELECT set_config('app.quota', $1, true)`, [quota])
    await client.query(
      `INSERT INTO outbound_events (tenant_id, id, type, body)
       VALUES ($1, 'msg_' || gen_random_uuid(), 'order.updated', '{"id": 1}')`,
      [tenants[0]],
    )
    await client.query('COMMIT')
  }
  await insert('{0,0,1,1000}')
  await t.rejects(insert('{9,9,1,1000}'), { code: 'QU002' }, 'rows')
  await t.rejects(insert('{9,9,9,9}'), { code: 'QU002' }, 'bytes')
  await insert('{0,0,2,1000}')
})

t.test('a member has a share of the rows and of the bytes of events', async (t) => {
  const database = await createDatabase(t)
  const alone = await createUser(database)
  const member = await createUser(database)
  await createUser(database, { tenantId: member.tenantId })
  const client = await connect(t, database, database.url)
  /** Publishes events of so many bytes in one transaction; how many are accepted, or the refusal. */
  const publish = (user: TestUser, quota: string, sizes: number[]) =>
    inside(client, async () => {
      await enterSession(client, await addSession(database, user))
      await client.query(`SELECT set_config('app.quota', $1, true)`, [quota])
      for (const [accepted, bytes] of sizes.entries()) {
        const insert = client.query(
          `INSERT INTO outbound_events (tenant_id, id, type, body)
           VALUES ($1, 'msg_' || gen_random_uuid(), 'x', repeat('x', $2))`,
          [user.tenantId, bytes],
        )
        const refusal = await refusalOf(insert)
        if (refusal !== null) return { accepted, refusal }
      }
      return { accepted: sizes.length }
    })
  const [bytes, rows] = ['{9,9,1000,1000,86400}', '{9,9,8,100000,86400}']
  t.strictSame(await publish(member, bytes, [240]), { accepted: 1 })
  t.strictSame(await publish(member, bytes, [260]), { accepted: 0, refusal: 'QU003' })
  t.strictSame(await publish(member, rows, [9, 9, 9]), { accepted: 2, refusal: 'QU003' })
  t.strictSame(await publish(alone, bytes, [260]), { accepted: 1 })
  t.strictSame(await publish(alone, rows, [9, 9, 9]), { accepted: 3 })
})

t.test('the result of a request is kept beyond the share of a member', async (t) => {
  const database = await createDatabase(t)
  const member = await createUser(database)
  await createUser(database, { tenantId: member.tenantId })
  await database.admin.query(
    `INSERT INTO posts (tenant_id, title, body) VALUES ($1, '', repeat('x', 600))`,
    [member.tenantId],
  )
  const client = await connect(t, database, database.url)
  /** Keeps a result of so many bytes, of a budget of 1,000. */
  const keep = (bytes: number, isResult: boolean) =>
    inside(client, async () => {
      await enterSession(client, await addSession(database, member))
      await client.query(
        `INSERT INTO idempotency_keys (holder, key_hash, request_hash, tenant_id)
         VALUES ($1, sha256('key'), sha256('request'), $2)`,
        [`person ${member.userId}`, member.tenantId],
      )
      await client.query(`SELECT set_config('app.quota', '{9,1000,9,9,86400}', true)`)
      if (isResult) await client.query(`SELECT put_setting('app.keeps', 'on')`)
      return refusalOf(
        client.query(`UPDATE idempotency_keys SET result = convert_to(repeat('x', $1), 'UTF8')`, [
          bytes,
        ]),
      )
    })
  t.equal(await keep(240, false), null)
  t.equal(await keep(260, false), 'QU004')
  t.equal(await keep(260, true), null)
})

t.test('changes that wait count against a limit', async (t) => {
  const { database, tenants } = await createWorld(t)
  const insert = {
    text: `INSERT INTO posts (tenant_id, title, body) VALUES ($1, 'title', '')`,
    values: [tenants[0]],
  }
  const holder = await connect(t, database)
  await holder.query('SELECT pg_advisory_lock(usage_lock($1))', [tenants[0]])
  const writer = await connect(t, database)
  await writer.query(`SELECT set_config('app.quota', '{3,1000,0,0}', false)`)
  for (const _ of [1, 2, 3]) await writer.query(insert)
  await t.rejects(writer.query(insert), { code: 'QU001' }, 'beside another writer')
  await holder.query('SELECT pg_advisory_unlock(usage_lock($1))', [tenants[0]])
  await t.rejects(writer.query(insert), { code: 'QU001' }, 'alone')
  await writer.query('DELETE FROM posts WHERE tenant_id = $1', [tenants[0]])
  await writer.query(`SELECT set_config('app.quota', '{3,1000,0,0}', false)`)
  await writer.query(insert)
})

t.test('operators see how many tenants have used 90 % of a budget', async (t) => {
  const { database, systemDb, tenants } = await createWorld(t)
  await database.admin.query(
    `INSERT INTO posts (tenant_id, title, body)
     SELECT $1, 'title', '' FROM generate_series(1, 9)`,
    [tenants[0]],
  )
  const near = async (rows: number) => {
    const { registry, quotas } = createMetrics()
    const quota = { resources: { rows, bytes: 10_000 }, events: 'off' } as const
    await measureUsage(systemDb, quotas, quota)
    return registry.getSingleMetricAsString('gatehouse_tenants_near_quota')
  }
  t.match(await near(10), 'gatehouse_tenants_near_quota{budget="resources"} 1')
  t.match(await near(11), 'gatehouse_tenants_near_quota{budget="resources"} 0')
  t.match(await near(10), 'gatehouse_tenants_near_quota{budget="events"} 0')
})

/** What a tenant writes, `$1`: each table once, and changes of size. */
const writes = [
  `INSERT INTO posts (tenant_id, title, body) VALUES ($1, 'title', 'body'), ($1, 'Größe', '')`,
  `UPDATE posts SET body = body || 'x' WHERE tenant_id = $1
   AND id = (SELECT max(id) FROM posts WHERE tenant_id = $1)`,
  `WITH team AS (
     INSERT INTO teams (tenant_id, name) VALUES ($1, 'team') RETURNING tenant_id, id
   ), folder AS (
     INSERT INTO folders (tenant_id, team_id, name) SELECT tenant_id, id, 'folder' FROM team
     RETURNING tenant_id, id, team_id)
   INSERT INTO documents (tenant_id, folder_id, team_id, title, body)
   SELECT tenant_id, id, team_id, 'title', 'body' FROM folder`,
  `INSERT INTO orders (tenant_id, user_id, line_items, shipping_address, card_last4)
   SELECT $1, min(user_id), '[{"sku": "A"}]', '{}', '4242' FROM memberships WHERE tenant_id = $1`,
  `WITH event AS (
     INSERT INTO outbound_events (tenant_id, id, type, body)
     VALUES ($1, 'msg_' || gen_random_uuid(), 'order.updated', '{"id": 1}')
     RETURNING tenant_id, id, type)
   INSERT INTO deliveries (tenant_id, event_id, endpoint_id, event_type)
   SELECT event.tenant_id, event.id, w.id, event.type FROM event
   JOIN webhook_endpoints w ON w.tenant_id = event.tenant_id`,
  `UPDATE deliveries SET stored_attempts = stored_attempts + 1, stored_bytes = stored_bytes + 7
   WHERE tenant_id = $1 AND id = (SELECT id FROM deliveries WHERE tenant_id = $1 LIMIT 1
                                  FOR UPDATE SKIP LOCKED)`,
  `INSERT INTO notifications (tenant_id, endpoint_id, kind, message)
   SELECT tenant_id, id, 'endpoint.failing', 'It fails.' FROM webhook_endpoints WHERE tenant_id = $1`,
  `DELETE FROM posts WHERE tenant_id = $1 AND title = 'title'
   AND id = (SELECT id FROM posts WHERE tenant_id = $1 LIMIT 1 FOR UPDATE SKIP LOCKED)`,
]

async function createWorld(t: Test) {
  const database = await createDatabase(t)
  const users = [await createUser(database), await createUser(database)]
  const tenants = users.map(({ tenantId }) => tenantId)
  for (const user of users) await createEndpoint(database, user, { url: 'https://one.example' })
  const systemDb = openSystemDatabase(database.workerUrl, 2, patient)
  t.teardown(() => systemDb.close())
  return { database, systemDb, tenants, users }
}

async function connect(
  t: Test,
  database: TestDatabase,
  url = database.superuserUrl,
): Promise<pg.Client> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  await client.connect()
  t.teardown(() => client.end())
  return client
}

async function usageOf({ database }: { database: TestDatabase }): Promise<object> {
  const { rows } = await database.admin.query(
    `SELECT sum(resource_rows) AS resource_rows, sum(resource_bytes) AS resource_bytes,
       sum(event_rows) AS event_rows, sum(event_bytes) AS event_bytes FROM tenant_usage`,
  )
  return rows[0]
}
