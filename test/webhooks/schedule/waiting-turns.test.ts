import t from 'tap'
import { untilBlocked } from '#test/support/database/until.ts'
import { anyEvent } from '#test/support/receiver/any-event.ts'
import { waitingAttempts } from '#test/support/receiver/delivery.ts'
import { createDeliveryWorker, succeed } from '#test/support/receiver/delivery-worker.ts'
import { createOutbox, type Outbox } from '#test/support/receiver/outbox.ts'
import { publishAtOnce } from '#test/support/receiver/publish-at-once.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

/*
 * A delivery adds no job if one waits that begins a turn of its endpoint. The turn must then send it,
 * whatever happens between the look at the jobs and the commit.
 */

const states = ['created', 'retry', 'active', 'completed', 'cancelled', 'failed'] as const

t.test('only a job that waits and begins a turn now counts', async (t) => {
  const outbox = await createOutbox(t)
  const { admin } = outbox.database
  const endpointId = await createEndpoint(outbox.database, outbox.tenant, {
    url: 'https://receiver.example',
  })
  const waits = async () => {
    const { rows } = await admin.query('SELECT turn_waits($1) AS waits', [endpointId])
    return rows[0]?.waits
  }
  t.equal(await waits(), false, 'no job')
  await outbox.publish()
  for (const state of states) {
    await admin.query('UPDATE pgboss.job SET state = $1', [state])
    t.equal(await waits(), state === 'created', state)
  }
  await admin.query(`UPDATE pgboss.job SET state = 'created',
    singleton_key = singleton_key || ':1764547500', start_after = now() + interval '300 s'`)
  t.equal(await waits(), false, 'a job for the second of a retry')
  t.equal(await jobsAfter(outbox), 2, 'what is due now gets a job of its own')
  t.equal(await jobsAfter(outbox), 2, 'which the next one relies on')
  t.equal((await waitingAttempts(outbox.database)).length, 3)
})

t.test('a job of another endpoint does not count', async (t) => {
  const outbox = await createOutbox(t)
  for (const n of [1, 2]) {
    await createEndpoint(outbox.database, outbox.tenant, { url: `https://receiver${n}.example` })
  }
  t.equal(await jobsAfter(outbox), 2)
  await outbox.database.admin.query(
    `UPDATE pgboss.job SET state = 'active' WHERE id = (SELECT min(id::text)::uuid FROM pgboss.job)`,
  )
  t.equal(await jobsAfter(outbox), 3)
})

t.test('a worker that fetches the job before the commit sends the delivery', async (t) => {
  const { outbox, receiver, endpointId, workDue, clock } = await createDeliveryWorker(t, succeed)
  const { database } = outbox
  await outbox.publish()
  const added = Promise.withResolvers<void>()
  const committed = Promise.withResolvers<void>()
  const publishing = outbox.db.write(outbox.entry, async (tx) => {
    await publishAtOnce(tx, outbox.tenant, anyEvent('order.updated', { id: 8 }), clock.now())
    added.resolve()
    await committed.promise
  })
  await added.promise
  const working = workDue()
  await receiver.next()
  await outbox.until(`SELECT FROM deliveries WHERE status = 'succeeded'`)
  const { rows } = await database.admin.query('SELECT state::text, group_id FROM pgboss.job')
  t.strictSame(rows, [{ state: 'active', group_id: endpointId }], 'no other job would send it')
  committed.resolve()
  await publishing
  await receiver.next()
  await working
  t.strictSame(await waitingAttempts(database), [])
})

t.test(
  'a delivery that waited for the lock of a turn that ends has a job of its own',
  async (t) => {
    const { outbox, receiver, workDue, endpointId } = await createDeliveryWorker(t, succeed)
    const { database } = outbox
    await outbox.publish()
    const turn = await database.admin.connect()
    await turn.query('BEGIN')
    await turn.query('SELECT FROM webhook_endpoints WHERE id = $1 FOR UPDATE', [endpointId])
    // Its statement has begun, and sees the job that waits.
    const publishing = outbox.publish()
    await untilBlocked(database)
    await turn.query('DELETE FROM due_attempts')
    await turn.query(`UPDATE pgboss.job SET state = 'completed', completed_on = now()`)
    await turn.query('COMMIT')
    turn.release()
    await publishing
    await workDue()
    t.equal(receiver.requests.length, 1)
    t.strictSame(await waitingAttempts(database), [])
  },
)

t.test('a change that is rolled back leaves the job that it relied on', async (t) => {
  const { outbox, receiver, workDue, clock } = await createDeliveryWorker(t, succeed)
  await outbox.publish()
  const undone = outbox.db.write(outbox.entry, async (tx) => {
    await publishAtOnce(tx, outbox.tenant, anyEvent('order.updated', { id: 8 }), clock.now())
    throw new Error('undone')
  })
  await t.rejects(undone, { message: 'undone' })
  await workDue()
  t.equal(receiver.requests.length, 1)
})

t.test('of two first deliveries at once, one adds the job', async (t) => {
  const { outbox, receiver, workDue, clock } = await createDeliveryWorker(t, succeed)
  const added = Promise.withResolvers<void>()
  const committed = Promise.withResolvers<void>()
  const first = outbox.db.write(outbox.entry, async (tx) => {
    await publishAtOnce(tx, outbox.tenant, anyEvent('order.updated', { id: 8 }), clock.now())
    added.resolve()
    await committed.promise
  })
  await added.promise
  const second = outbox.publish()
  await untilBlocked(outbox.database)
  committed.resolve()
  await Promise.all([first, second])
  t.equal(await workDue(), 1)
  t.equal(receiver.requests.length, 2)
})

/** @returns the number of jobs after another delivery */
async function jobsAfter(outbox: Outbox): Promise<number> {
  await outbox.publish()
  const { rows } = await outbox.database.admin.query('SELECT FROM pgboss.job')
  return rows.length
}
