import t from 'tap'
import type { Tx } from '#src/db/database.ts'
import { findDelivery } from '#src/webhooks/history/deliveries.ts'
import { replayDelivery } from '#src/webhooks/history/replays.ts'
import { createDelivery } from '#test/support/receiver/delivery.ts'
import { createOutbox } from '#test/support/receiver/outbox.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

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
