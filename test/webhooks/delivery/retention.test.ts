import t from 'tap'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { purgeEvents } from '#src/webhooks/delivery/retention.ts'
import { createUser } from '#test/support/helper.ts'
import { createOutbox } from '#test/support/outbox.ts'
import { createEndpoint } from '#test/support/webhook-endpoint.ts'

t.test('old events are deleted with their deliveries and attempts, in every tenant', async (t) => {
  const { database, tenant, publish } = await createOutbox(t)
  const systemDb = openSystemDatabase(database.workerUrl, 2)
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
  t.equal(await purgeEvents(systemDb, new Date('2026-01-01T00:00:00Z')), 0, 'not a moment early')
  t.equal(await purgeEvents(systemDb, new Date('2026-01-01T00:00:00.001Z')), 1_002)
  const left = async (table: string) =>
    (await database.admin.query(`SELECT FROM ${table}`)).rowCount
  for (const table of ['outbound_events', 'deliveries', 'delivery_attempts']) {
    t.equal(await left(table), 1, table)
  }
})
