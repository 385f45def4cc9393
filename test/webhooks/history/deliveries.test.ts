import t from 'tap'
import { noClientInfo } from '#src/audit/audit.ts'
import type { Tx } from '#src/db/database.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { createMetrics } from '#src/observability/metrics.ts'
import { pauseEndpoint, resumeEndpoint } from '#src/webhooks/delivery/held/pause.ts'
import { measureHealth } from '#src/webhooks/health/measure.ts'
import {
  countDeliveriesOf,
  findDelivery,
  listDeliveries,
  listDeliveriesOf,
} from '#src/webhooks/history/deliveries.ts'
import { replayDelivery } from '#src/webhooks/history/replays.ts'
import { createDelivery } from '#test/support/receiver/delivery.ts'
import { createDeliveryWorker, fail } from '#test/support/receiver/delivery-worker.ts'
import { createOutbox } from '#test/support/receiver/outbox.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

t.test('endpoint, delivery, event and metrics say the same of a failing endpoint', async (t) => {
  const worker = await createDeliveryWorker(t, fail, [0, 5, 30])
  const { outbox, endpointId, queue, clock, moveTo, workDue } = worker
  const { db, entry, tenant } = outbox
  const systemDb = openSystemDatabase(outbox.database.workerUrl, 1)
  t.teardown(() => systemDb.close())
  const eventId = await outbox.publish()
  const page = { limit: 10, after: null }
  const isSeen = async (state: string, failedAttempts: number, at: string, retrying = 0) => {
    const seen = await db.read(entry, async (tx) => ({
      list: await listDeliveries(tx, tenant, endpointId, {}, page),
      ofEvent: await listDeliveriesOf(tx, tenant, eventId),
      counts: await countDeliveriesOf(tx, tenant, [eventId]),
    }))
    const id = seen.list?.data[0]?.id ?? ''
    const health = { state, failedAttempts }
    t.strictSame(seen.list?.data[0]?.health, health)
    t.strictSame(seen.ofEvent[0]?.health, health)
    t.strictSame(seen.counts.get(eventId), [{ state, count: 1 }])
    t.strictSame((await db.read(entry, (tx) => findDelivery(tx, tenant, id)))?.health, health)
    t.match(await worker.endpoint(), { health: { state: at, retrying } })
    const { outbound, registry } = createMetrics()
    await measureHealth(systemDb, outbound)
    const gauge = await registry.getSingleMetricAsString('gatehouse_webhook_endpoints')
    t.ok(gauge.includes(`{state="${at}"} 1`), gauge)
  }
  await isSeen('waiting', 0, 'healthy')
  await workDue()
  await isSeen('retrying', 1, 'retrying', 1)
  await moveTo(6)
  await workDue()
  await isSeen('retrying', 2, 'retrying', 1)
  const by = { ...tenant, clientInfo: noClientInfo }
  await db.write(entry, (tx) =>
    pauseEndpoint(tx, queue, by, endpointId, { keep: true, now: clock.now() }),
  )
  await isSeen('paused', 2, 'paused', 1)
  await db.write(entry, (tx) => resumeEndpoint(tx, queue, by, endpointId, clock.now()))
  await moveTo(31)
  await workDue()
  await isSeen('exhausted', 3, 'failing')
})

t.test('a delivery is not read as pending beside its own successful attempt', async (t) => {
  const outbox = await createOutbox(t)
  const { database, db, entry, tenant } = outbox
  const endpointId = await createEndpoint(database, tenant, { url: 'https://8.8.8.8/' })
  const id = await createDelivery(database, {
    ...tenant,
    endpointId,
    status: 'pending',
    attempts: 0,
  })
  const read = await db.read(entry, (tx) => findDelivery(afterDelivery(tx, succeed), tenant, id))
  t.strictSame([read?.status, read?.attempts], ['pending', []])
  const next = await db.read(entry, (tx) => findDelivery(tx, tenant, id))
  t.match(next, { status: 'succeeded', attempts: [{ number: 1, statusCode: 204 }] })

  async function succeed() {
    await database.admin.query(
      `WITH ended AS (
         UPDATE deliveries SET status = 'succeeded', attempts = 1, finished_at = now()
         RETURNING tenant_id, id
       )
       INSERT INTO delivery_attempts (tenant_id, delivery_id, series, number, started_at,
         duration_ms, status_code)
       SELECT tenant_id, id, 0, 1, now(), 12, 204 FROM ended`,
    )
  }
})

t.test(
  'a request to replay a delivery that waits for its attempt holds it meanwhile',
  async (t) => {
    const { database, db, entry, tenant, publish, deliveries } = await createOutbox(t)
    await createEndpoint(database, tenant, { url: 'https://8.8.8.8/' })
    await publish()
    const id = (await deliveries())[0]?.id ?? ''
    const by = { ...tenant, clientInfo: { ip: '127.0.0.1', userAgent: null } }
    await db.write(entry, async (tx) => {
      t.match(await replayDelivery(tx, by, id, new Date()), { status: 'pending', attempts: [] })
      const change = database.admin.query(
        'SELECT id FROM deliveries WHERE tenant_id = $1 FOR NO KEY UPDATE NOWAIT',
        [tenant.tenantId],
      )
      await t.rejects(change, { code: '55P03' })
    })
  },
)

/** The same transaction, where `work` runs between the look at the delivery and what follows. */
function afterDelivery(tx: Tx, work: () => Promise<void>): Tx {
  const findFirst = async (...args: Parameters<Tx['delivery']['findFirst']>) => {
    const row = await tx.delivery.findFirst(...args)
    await work()
    return row
  }
  const delivery = new Proxy(tx.delivery, {
    get: (target, property) =>
      property === 'findFirst' ? findFirst : Reflect.get(target, property),
  })
  return new Proxy(tx, {
    get: (target, property) => (property === 'delivery' ? delivery : Reflect.get(target, property)),
  })
}
