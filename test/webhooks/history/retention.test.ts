import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { purgeHistory } from '#src/webhooks/history/retention.ts'
import { patient } from '#test/support/database/open.ts'
import { createOutbox } from '#test/support/receiver/outbox.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

t.test('old events are deleted with their deliveries and attempts, in every tenant', async (t) => {
  const { database, tenant, publish } = await createOutbox(t)
  const systemDb = openSystemDatabase(database.workerUrl, 2, patient)
  t.teardown(() => systemDb.close())
  await createEndpoint(database, tenant, { url: 'https://receiver.example' })
  await publish()
  const kept = await publish()
  const elsewhere = await createUser(database)
  await database.admin.query(
    `INSERT INTO outbound_events (tenant_id, id, type, body, created_at)
     SELECT $1, 'msg_0000000000000000' || n, 'order.updated', '{}', '2026-01-01'
     FROM generate_series(1, 1001) n`,
    [elsewhere.tenantId],
  )
  await database.admin.query(
    `UPDATE outbound_events SET created_at = '2026-01-01' WHERE tenant_id = $1 AND id <> $2`,
    [tenant.tenantId, kept],
  )
  await database.admin.query(
    `INSERT INTO delivery_attempts (tenant_id, delivery_id, series, number, started_at, duration_ms)
     SELECT tenant_id, id, 0, 1, now(), 1 FROM deliveries`,
  )
  const purge = (before: Date) => purgeHistory(systemDb, { before, feed: before })
  const none = { events: 0, others: 0 }
  t.strictSame(await purge(new Date('2026-01-01T00:00:00Z')), none, 'not a moment early')
  t.match(await purge(new Date('2026-01-01T00:00:00.001Z')), { events: 1_002 })
  const left = async (table: string) =>
    (await database.admin.query(`SELECT FROM ${table}`)).rowCount
  for (const table of ['outbound_events', 'deliveries', 'delivery_attempts']) {
    t.equal(await left(table), 1, table)
  }
})

t.test('a batch that takes too long is halved, and later tenants have their turn', async (t) => {
  const { database, tenant } = await createOutbox(t)
  const systemDb = openSystemDatabase(database.workerUrl, 2, patient)
  t.teardown(() => systemDb.close())
  const { admin } = database
  const other = await createUser(database)
  const [first = '', second = ''] = [tenant.tenantId, other.tenantId].toSorted()
  for (const [tenantId, events] of [
    [first, 700],
    [second, 3],
  ] as const) {
    await admin.query(
      `INSERT INTO outbound_events (tenant_id, id, type, body, created_at)
       SELECT $1, 'msg_0000000000000000' || n, 'order.updated', '{}', '2026-01-01'
       FROM generate_series(1, $2) n`,
      [tenantId, events],
    )
  }
  // As the statement timeout.
  await admin.query(`
    CREATE FUNCTION take_too_long() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF (SELECT count(*) FROM gone) > 100 THEN
        RAISE EXCEPTION 'canceling statement' USING ERRCODE = 'query_canceled';
      END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER take_too_long AFTER DELETE ON outbound_events
      REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION take_too_long()`)
  const before = new Date('2026-01-02')
  t.match(await purgeHistory(systemDb, { before, feed: before }), { events: 703 })
  t.equal((await admin.query('SELECT FROM outbound_events')).rowCount, 0)
  await admin.query(
    `INSERT INTO outbound_events (tenant_id, id, type, body, created_at)
     VALUES ($1, 'msg_00000000000000001', 'order.updated', '{}', '2026-01-01')`,
    [first],
  )
  await admin.query(`
    CREATE OR REPLACE FUNCTION take_too_long() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'canceling statement' USING ERRCODE = 'query_canceled'; END $$`)
  await t.rejects(
    purgeHistory(systemDb, { before, feed: before }),
    { code: '57014' },
    'a single event cannot be halved',
  )
})

t.test('without an endpoint events are kept for the feed alone', async (t) => {
  const { database, tenant, publish } = await createOutbox(t)
  const systemDb = openSystemDatabase(database.workerUrl, 2, patient)
  t.teardown(() => systemDb.close())
  const withEndpoint = await createUser(database)
  await createEndpoint(database, withEndpoint, { url: 'https://receiver.example' })
  const kept = await publish()
  const old = `INSERT INTO outbound_events (tenant_id, id, type, body, created_at)
    VALUES ($1, 'msg_0000000000000001', 'order.updated', '{}', '2026-01-02')`
  await database.admin.query(old, [tenant.tenantId])
  await database.admin.query(old, [withEndpoint.tenantId])
  const before = new Date('2026-01-01')
  t.match(await purgeHistory(systemDb, { before, feed: new Date('2026-01-02') }), { events: 0 })
  t.match(await purgeHistory(systemDb, { before, feed: new Date('2026-01-03') }), { events: 1 })
  const { rows } = await database.admin.query('SELECT tenant_id, id FROM outbound_events')
  t.strictSame(
    new Set(rows.map(({ id, tenant_id }) => `${tenant_id} ${id}`)),
    new Set([`${tenant.tenantId} ${kept}`, `${withEndpoint.tenantId} msg_0000000000000001`]),
  )
})

t.test('finished replays, notifications and expired invitations expire with events', async (t) => {
  const { database, tenant } = await createOutbox(t)
  const systemDb = openSystemDatabase(database.workerUrl, 2, patient)
  t.teardown(() => systemDb.close())
  const id = await createEndpoint(database, tenant, { url: 'https://receiver.example' })
  const values = [tenant.tenantId, id]
  await database.admin.query(
    `INSERT INTO endpoint_replays (tenant_id, endpoint_id, replay_from, replay_to, total, finished_at)
     SELECT $1, $2, now(), now(), 0, finished_at
     FROM unnest(ARRAY['2025-12-31', '2026-01-01', NULL]::timestamptz[]) AS finished_at`,
    values,
  )
  await database.admin.query(
    `INSERT INTO notifications (tenant_id, endpoint_id, kind, message, created_at)
     SELECT $1, $2, 'endpoint.failing', '', created_at
     FROM unnest(ARRAY['2025-12-31', '2026-01-01']::timestamptz[]) AS created_at`,
    values,
  )
  await database.admin.query(
    `INSERT INTO invitations (tenant_id, email, role, expires_at)
     SELECT $1, expires_at || '@example.com', 'viewer', expires_at
     FROM unnest(ARRAY['2025-12-31', '2026-01-01']::date[]) AS expires_at`,
    [tenant.tenantId],
  )
  const before = new Date('2026-01-01T00:00:00Z')
  t.strictSame(await purgeHistory(systemDb, { before, feed: before }), { events: 0, others: 3 })
  const left = async (table: string) =>
    (await database.admin.query(`SELECT FROM ${table}`)).rowCount
  t.equal(await left('endpoint_replays'), 2, 'an unfinished replay stays')
  t.equal(await left('notifications'), 1)
  t.equal(await left('invitations'), 1)
})
