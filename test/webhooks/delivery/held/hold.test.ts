import t from 'tap'
import { noClientInfo } from '#src/audit/audit.ts'
import { changeEndpoint } from '#src/webhooks/endpoints/endpoints.ts'
import { untilTrue } from '#test/support/database/until.ts'
import {
  createDeliveryWorker,
  type DeliveryWorker,
  succeed,
} from '#test/support/receiver/delivery-worker.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

t.test(
  'deliveries beyond the rate of an endpoint wait without a due attempt, oldest first',
  async (t) => {
    const worker = await createDeliveryWorker(t, succeed)
    const { outbox, receiver, moveTo, workDue, workDrains } = worker
    await setLimit(worker, { perSecond: 1, burst: 2 })
    const published: string[] = []
    for (let n = 0; n < 9; n++) {
      published.push(await outbox.publish())
      await moveTo(0.001)
    }
    t.equal(await workDue(), 1)
    t.equal(receiver.requests.length, 2, 'a burst at once')
    t.equal((await heldIn(worker)).length, 7)
    t.equal(await workDue(), 0, 'and no further turn')
    t.equal((await outbox.database.admin.query('SELECT FROM due_attempts')).rowCount, 0)
    const sentAt: number[] = []
    for (let second = 0; second < 12; second++) {
      await workDrains()
      await workDue()
      sentAt.push(receiver.requests.length)
      await moveTo(1)
    }
    t.strictSame(sentAt.slice(0, 9), [2, 3, 4, 5, 6, 7, 8, 9, 9])
    const sent = receiver.requests.map(({ headers }) => String(headers['webhook-id']))
    t.strictSame(new Set(sent.slice(0, 2)), new Set(published.slice(0, 2)))
    t.strictSame(sent.slice(2), published.slice(2))
    t.equal(await workDrains(), 0, 'no job is left')
  },
)

t.test('a limit delays neither the neighbours of its endpoint nor the queue', async (t) => {
  const worker = await createDeliveryWorker(t, succeed)
  const { outbox, receiver, workDue, endpointId } = worker
  await setLimit(worker, { perSecond: 1, burst: 1 })
  const { database, tenant } = outbox
  const neighbour = await createEndpoint(database, tenant, {
    url: receiver.url,
    eventTypes: ['post.deleted'],
  })
  for (let n = 0; n < 120; n++) await outbox.publish()
  await outbox.publish({ type: 'post.deleted', data: { id: 1 } })
  await untilTrue(async () => (await workDue()) === 0)
  const { rows } = await database.admin.query(
    `SELECT endpoint_id, count(*)::int FROM deliveries WHERE status = 'succeeded' GROUP BY 1`,
  )
  t.strictSame(
    new Map(rows.map((row) => [row.endpoint_id, row.count])),
    new Map([
      [endpointId, 1],
      [neighbour, 1],
    ]),
  )
  t.equal((await heldIn(worker)).length, 120)
})

t.test(
  'all that is held is released when the limit is removed or the endpoint disabled',
  async (t) => {
    for (const isDisabled of [false, true]) {
      const worker = await createDeliveryWorker(t, succeed)
      const { outbox, receiver, workDue, workDrains } = worker
      await setLimit(worker, { perSecond: 1, burst: 1 })
      for (let n = 0; n < 5; n++) await outbox.publish()
      await workDue()
      if (isDisabled) {
        await outbox.database.admin.query(
          `UPDATE endpoint_states SET status = 'disabled', disabled_at = now()`,
        )
      } else await setLimit(worker, null)
      await workDrains()
      t.equal(await workDue(), 1)
      t.equal(receiver.requests.length, isDisabled ? 1 : 5)
      const statuses = (await outbox.deliveries()).map(({ status }) => status)
      const exhausted = statuses.filter((status) => status === 'exhausted').length
      t.equal(exhausted, isDisabled ? 4 : 0, 'deliveries to a disabled endpoint end')
      t.strictSame(await heldIn(worker), [])
    }
  },
)

t.test('a drain and a hold at once leave no delivery without a due attempt', async (t) => {
  const worker = await createDeliveryWorker(t, succeed)
  const { outbox, moveTo, workDue, workDrains } = worker
  await setLimit(worker, { perSecond: 50, burst: 1 })
  for (let round = 0; round < 10; round++) {
    for (let n = 0; n < 5; n++) await outbox.publish()
    await Promise.all([workDue(), workDrains(), workDue(), workDrains()])
    await moveTo(0.1)
  }
  for (let second = 0; second < 10; second++) {
    await workDrains()
    await workDue()
    await moveTo(1)
  }
  const open = (await outbox.deliveries()).filter(({ status }) => status !== 'succeeded')
  t.strictSame(open, [])
})

t.test('a thin payload has the id of the object and nothing else of it', async (t) => {
  const worker = await createDeliveryWorker(t, succeed)
  const { outbox, receiver, workDue } = worker
  await change(worker, { payload: 'thin' })
  const order = { id: 7, userId: 3, cardLast4: '4242' }
  const eventId = await outbox.publish({ type: 'order.updated', data: order })
  await outbox.publish({ type: 'subscription.activated', data: { userId: 3, plan: 'pro' } })
  await workDue()
  const bodies = receiver.requests.map(({ body }) => JSON.parse(body.toString()))
  const byType = Object.fromEntries(bodies.map((body) => [body.type, body]))
  t.match(byType['order.updated'], { id: eventId, type: 'order.updated', createdAt: /Z$/ })
  t.strictSame(byType['order.updated'].data, { id: 7 })
  t.strictSame(byType['subscription.activated'].data, { userId: 3 })
})

type Change = Parameters<typeof changeEndpoint>[3]

async function change({ outbox, endpointId, clock }: DeliveryWorker, fields: Change) {
  const { db, entry, tenant } = outbox
  const by = { ...tenant, clientInfo: noClientInfo }
  await db.write(entry, (tx) => changeEndpoint(tx, by, endpointId, fields, clock.now()))
}

function setLimit(worker: DeliveryWorker, rateLimit: (Change['rateLimit'] & object) | null) {
  return change(worker, { rateLimit })
}

async function heldIn({ outbox }: DeliveryWorker): Promise<unknown[]> {
  const { rows } = await outbox.database.admin.query(
    `SELECT id FROM deliveries WHERE held_for = 'rate'`,
  )
  return rows
}
