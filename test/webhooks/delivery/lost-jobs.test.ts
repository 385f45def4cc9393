import t, { type Test } from 'tap'
import type { Database } from '#src/db/database.ts'
import type { EndpointTurnJob } from '#src/queue/queue.ts'
import { endpointTurnQueue } from '#src/webhooks/schedule/due-attempts.ts'
import { openDispatcher } from '#test/support/receiver/open-dispatcher.ts'

t.test('a turn that the queue has taken back before its first attempt sends nothing', async (t) => {
  const { outbox, sent, fetch, work, takeBack } = await setUp(t)
  await outbox.publish()
  const jobs = await fetch()
  await takeBack()
  await work(jobs)
  t.equal(sent.length, 0)
  await work(await fetch())
  t.equal(sent.length, 1)
  t.match(await outbox.deliveries(), [{ status: 'succeeded', attempts: [{ number: 1 }] }])
})

t.test(
  'the outcome of an attempt whose turn was taken back is left to the next turn',
  async (t) => {
    const { outbox, sent, fetch, work, takeBack, duringAttempt } = await setUp(t)
    await outbox.publish()
    duringAttempt(takeBack)
    await work(await fetch())
    t.equal(sent.length, 1)
    t.match(await outbox.deliveries(), [{ status: 'pending', attempts: [] }])
    duringAttempt(async () => {})
    await work(await fetch())
    t.equal(sent.length, 2)
    t.equal(new Set(sent).size, 1, 'with the same id')
    t.match(await outbox.deliveries(), [{ status: 'succeeded', attempts: [{ number: 1 }] }])
  },
)

t.test('an outcome whose commit was not answered is recorded once', async (t) => {
  let lost = 0
  const loseFirst = async <Written>(written: Written): Promise<Written> => {
    lost += 1
    if (lost > 1) return written
    throw Object.assign(new Error('the answer was lost'), { code: 'ECONNRESET' })
  }
  const { outbox, sent, fetch, work } = await setUp(t, (db) => ({
    ...db,
    write: async (entry, write) => loseFirst(await db.write(entry, write)),
  }))
  await outbox.publish()
  await work(await fetch())
  t.ok(lost > 1, 'it was recorded again')
  t.equal(sent.length, 1)
  t.match(await outbox.deliveries(), [{ status: 'succeeded', attempts: [{ number: 1 }] }])
  t.strictSame(await fetch(), [])
})

t.test('a turn whose outcome cannot be recorded goes back to the queue', async (t) => {
  const errors: string[] = []
  const refuse = (db: Database): Database => ({
    ...db,
    write: () => Promise.reject(new Error('refused')),
  })
  const { outbox, sent, fetch, work } = await setUp(t, refuse, errors)
  await outbox.publish()
  await work(await fetch())
  t.equal(sent.length, 1)
  t.strictSame(errors, ['delivery outcome not recorded'])
  const { rows } = await outbox.database.admin.query(
    'SELECT state::text FROM pgboss.job WHERE name = $1',
    [endpointTurnQueue],
  )
  t.strictSame(rows, [{ state: 'retry' }])
})

/** An endpoint, and a dispatcher for whose jobs the test asks the queue. */
async function setUp(
  t: Test,
  change: (db: Database) => Database = (db) => db,
  errors: string[] | null = null,
) {
  let during = async () => {}
  const { outbox, queue, sent, work } = await openDispatcher(t, {
    change,
    onSend: () => during(),
    ...(errors !== null && { onError: (message) => void errors.push(message) }),
  })
  return {
    outbox,
    sent,
    work,
    duringAttempt(work: () => Promise<void>) {
      during = work
    },
    fetch: () => queue.fetch<EndpointTurnJob>(endpointTurnQueue, { batchSize: 10 }),
    /** As when the job has expired. */
    async takeBack() {
      await outbox.database.admin.query(
        `UPDATE pgboss.job SET state = 'retry', start_after = now() WHERE name = 'endpoint-turn'`,
      )
    },
  }
}
