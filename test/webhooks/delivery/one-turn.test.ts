import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { fetchTurns } from '#src/webhooks/delivery/fetch-turns.ts'
import { roomOf } from '#src/webhooks/delivery/slots.ts'
import { deliverLimits } from '#src/webhooks/delivery/worker.ts'
import { endpointTurnQueue } from '#src/webhooks/schedule/due-attempts.ts'
import { openPatiently } from '#test/support/database/open.ts'
import { startQueue } from '#test/support/processes/running-worker.ts'
import { createDeliveryWorker } from '#test/support/receiver/delivery-worker.ts'
import { createOutbox } from '#test/support/receiver/outbox.ts'

/*
 * An endpoint has one turn at a time, or each of its deliveries is sent by every worker that has one.
 */

t.test('a worker that was paused leaves a turn to the one that took it over', async (t) => {
  const answers: (() => void)[] = []
  const { outbox, receiver, queue, moveTo, workDue } = await createDeliveryWorker(
    t,
    (_request, response) => void answers.push(() => response.writeHead(204).end()),
  )
  const { admin } = outbox.database
  const published = 100
  for (let n = 0; n < published; n += 1) await outbox.publish()
  const paused = workDue(0)
  const atOnce = roomOf({ ...deliverLimits, taken: 0 }, 0)
  for (let n = 0; n < atOnce; n += 1) await receiver.next()
  const { rows } = await admin.query<{ id: string; retryCount: number }>(
    `SELECT id, retry_count AS "retryCount" FROM pgboss.job WHERE name = 'endpoint-turn'`,
  )
  t.match(rows, [{ retryCount: 0 }])
  await queue.fail(endpointTurnQueue, rows)
  await moveTo(2)
  const continued = workDue(1)
  for (let n = 0; n < atOnce; n += 1) await receiver.next()
  receiver.respond((_request, response) => response.writeHead(204).end())
  await pause(1_100) // what it has read before is read again
  for (const answer of answers) answer()
  await Promise.all([paused, continued])
  await outbox.until(
    `SELECT FROM deliveries HAVING count(*) FILTER (WHERE status = 'succeeded') = ${published}`,
  )
  t.equal(receiver.requests.length, published + atOnce, 'only what was in progress is sent again')
})

t.test(
  'of two fetches at once, one gets the turn of an endpoint that has several jobs',
  async (t) => {
    const { database } = await createOutbox(t)
    const db = openPatiently(t, database.workerUrl, 4)
    const queues = [
      await startQueue(t, database, 'worker'),
      await startQueue(t, database, 'worker'),
    ] as const
    for (let round = 0; round < 4; round += 1) {
      await database.admin.query('DELETE FROM pgboss.job')
      await database.admin.query(
        `INSERT INTO pgboss.job (name, group_id, singleton_key, created_on, retry_limit)
       SELECT '${endpointTurnQueue}', endpoint, concat_ws(':', endpoint, second),
         now() - interval '1 s' * ((endpoint * 7919 + second * 1049) % 3600), 9
       FROM generate_series(1, 300) AS endpoint, generate_series(1, 3) AS second`,
      )
      const fetched = await Promise.all(
        queues.map((queue) => fetchTurns(queue, db, 200, new Date())),
      )
      t.ok(fetched.flat().length >= 128)
      const { rows } = await database.admin.query(
        `SELECT group_id FROM pgboss.job WHERE state = 'active' GROUP BY 1 HAVING count(*) > 1`,
      )
      t.strictSame(rows, [])
    }
  },
)
