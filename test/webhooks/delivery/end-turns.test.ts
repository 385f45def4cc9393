import t from 'tap'
import { anyEvent } from '#test/support/receiver/any-event.ts'
import { waitingAttempts } from '#test/support/receiver/delivery.ts'
import { createDeliveryWorker, succeed } from '#test/support/receiver/delivery-worker.ts'
import { publishAtOnce } from '#test/support/receiver/publish-at-once.ts'

for (const inTurn of [false, true]) {
  const when = inTurn ? 'while a worker has the turn' : 'with a job of its own'
  t.test(
    `an attempt that is added by a clock ahead of the worker’s, ${when}, is made`,
    async (t) => {
      const { outbox, receiver, endpointId, workDue, nextDue, moveTo, clock } =
        await createDeliveryWorker(t, succeed)
      const { admin } = outbox.database
      await outbox.publish()
      await workDue()
      t.equal(receiver.requests.length, 1)

      const ahead = await createTurn()
      const later = new Date(clock.now().getTime() + 30_000)
      await admin.query('UPDATE due_attempts SET due_at = $1', [later])
      await workDue()
      t.equal(receiver.requests.length, 1, 'it is not due yet')
      t.strictSame(await waitingAttempts(outbox.database), [{ id: ahead, series: 0, number: 1 }])
      t.ok(Number(await nextDue()) > 25, 'the endpoint has a job for that time')
      const { rows } = await admin.query('SELECT in_turn FROM webhook_endpoints')
      t.strictSame(rows, [{ in_turn: false }])
      await moveTo(31)
      await workDue()
      t.equal(receiver.requests.length, 2)
      t.strictSame(await waitingAttempts(outbox.database), [])

      /** A turn that is about to end, and a new delivery. @returns its id */
      async function createTurn(): Promise<string | undefined> {
        await outbox.publish()
        if (inTurn) {
          // As if the delivery had relied on a turn that is announced.
          await admin.query('UPDATE webhook_endpoints SET in_turn = true WHERE id = $1', [
            endpointId,
          ])
        }
        return (await waitingAttempts(outbox.database))[0]?.id
      }
    },
  )
}

t.test('a turn goes on while a transaction that has added an attempt is open', async (t) => {
  const { outbox, receiver, workDue, clock } = await createDeliveryWorker(t, succeed)
  const { admin } = outbox.database
  await outbox.publish()
  const added = Promise.withResolvers<void>()
  const committed = Promise.withResolvers<void>()
  await admin.query('UPDATE webhook_endpoints SET in_turn = true')
  const publishing = outbox.db.write(outbox.entry, async (tx) => {
    const event = anyEvent('order.updated', { id: 8 })
    await publishAtOnce(tx, outbox.tenant, event, clock.now())
    added.resolve()
    await committed.promise
  })
  await added.promise
  let isOver = false
  const working = workDue().finally(() => {
    isOver = true
  })
  await receiver.next()
  const { rows } = await admin.query(`SELECT FROM pgboss.job WHERE name = 'endpoint-turn'`)
  t.equal(rows.length, 1, 'the open transaction relies on the turn and adds no job')
  await new Promise((resolve) => setTimeout(resolve, 300)) // several tries to end
  t.equal(isOver, false)
  committed.resolve()
  await publishing
  await receiver.next()
  await working
  t.strictSame(await waitingAttempts(outbox.database), [])
})
