import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { openQueue } from '#src/queue/queue.ts'
import { charge, invoicesOf, receive, stateOf } from '#test/billing/received.ts'
import { send } from '#test/routes/webhooks/send-event.ts'
import { build } from '#test/support/app/app.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { until, untilBlocked } from '#test/support/database/until.ts'
import {
  enqueue,
  jobsOf,
  startQueue,
  startTestWorker,
} from '#test/support/processes/running-worker.ts'

t.test('a received event is processed, end to end', async (t) => {
  const { app, database } = await build(t)
  const { tenantId } = await createUser(database, { billingCustomer: 'cus_1' })
  const worker = await startTestWorker(t, database)
  const event = { id: 'evt_1', type: 'charge.succeeded', data: { object: charge } }
  t.equal((await send(app, event)).body, 'recorded')
  await worker.attempts(1)
  await worker.stop()
  t.match(await invoicesOf(database), [{ tenant_id: tenantId, amount: '4900' }])
  t.match(await jobsOf(database), { evt_1: { state: 'completed' } })
  t.strictSame(worker.errors, [])
})

t.test('two workers and a duplicate job create one invoice', async (t) => {
  const database = await createDatabase(t)
  await createUser(database, { billingCustomer: 'cus_1' })
  const eventId = await receive(database, { id: 'evt_1', type: 'charge.succeeded' })
  const queue = await startQueue(t, database, 'web')
  for (let copy = 0; copy < 4; copy += 1) await queue.send('billing-event', { eventId })
  const workers = await Promise.all([startTestWorker(t, database), startTestWorker(t, database)])
  await until(
    database,
    `SELECT FROM pgboss.job WHERE name = 'billing-event' HAVING every(state = 'completed')`,
  )
  await Promise.all(workers.map((worker) => worker.stop()))
  t.equal((await invoicesOf(database)).length, 1)
  t.match(await stateOf(database), { status: 'processed', attempts: 1 })
})

t.test('the worker deletes expired sessions', async (t) => {
  const database = await createDatabase(t)
  await database.admin.query(
    `INSERT INTO sessions (id_hash, expires_at) VALUES (sha256('dead'), now())`,
  )
  const worker = await startTestWorker(t, database)
  await until(database, 'SELECT WHERE NOT EXISTS (SELECT FROM sessions)')
  await worker.stop()
  t.strictSame(worker.errors, [])
})

t.test('an event that cannot be processed now fails with the reason and is retried', async (t) => {
  const database = await createDatabase(t)
  await createUser(database, { billingCustomer: 'cus_1' })
  await database.admin.query('ALTER TABLE invoices RENAME TO missing')
  const worker = await startTestWorker(t, database)
  await enqueue(database, { id: 'evt_1', type: 'charge.succeeded' }, worker)
  await until(database, `SELECT FROM pgboss.job WHERE name = 'billing-event' AND state = 'retry'`)
  const reason = /invoices/
  t.match(await stateOf(database), { status: 'failed', attempts: 1, last_error: reason })
  await database.admin.query('ALTER TABLE missing RENAME TO invoices')
  await database.admin.query(
    `UPDATE pgboss.job SET start_after = now() WHERE name = 'billing-event'`,
  )
  await worker.attempts(2)
  await worker.stop()
  t.match(await stateOf(database), { status: 'processed', attempts: 2, last_error: null })
  t.match(await jobsOf(database), { evt_1: { state: 'completed', retry_count: 1 } })
})

t.test('an event is dead after its last try fails', async (t) => {
  const database = await createDatabase(t)
  await createUser(database, { billingCustomer: 'cus_1' })
  await database.admin.query('ALTER TABLE invoices RENAME TO missing')
  const queue = await startQueue(t, database, 'web')
  const eventId = await receive(database, { id: 'evt_1', type: 'charge.succeeded' })
  await queue.send('billing-event', { eventId })
  await database.admin.query('UPDATE pgboss.job SET retry_count = retry_limit')
  const worker = await startTestWorker(t, database)
  await worker.attempts(1)
  await worker.stop()
  t.match(await stateOf(database), { status: 'dead', last_error: /invoices/ })
  t.match(await jobsOf(database), { evt_1: { state: 'completed' } }, 'and its job has ended')
})

t.test('one poison event never blocks another', async (t) => {
  const database = await createDatabase(t)
  await createUser(database, { billingCustomer: 'cus_1' })
  const queue = await startQueue(t, database, 'web')
  for (let index = 0; index < 50; index += 1) {
    const object = index === 7 ? { ...charge, amount: 'much' } : charge
    const event = { id: `evt_${index}`, type: 'charge.succeeded', object }
    await queue.send('billing-event', { eventId: await receive(database, event) })
  }
  const worker = await startTestWorker(t, database)
  await worker.attempts(50)
  await worker.stop()
  t.equal((await invoicesOf(database)).length, 49)
  t.match(await stateOf(database, 'evt_7'), { status: 'dead', last_error: /amount/ })
  const states = Object.values(await jobsOf(database)).map(({ state }) => state)
  t.ok(
    states.every((state) => state === 'completed'),
    'poison is not tried again',
  )
})

/** Values that no try will store, each with the reason that the operator sees. */
const unstorable: [string, object, RegExp][] = [
  ['a customer with NUL', { customer: 'cus\0_1' }, /customer has characters that cannot be stored/],
  ['a customer that is NUL', { customer: '\0' }, /customer has characters that cannot be stored/],
  ['half a character', { customer: 'cus_\ud83d' }, /customer has characters that cannot be stored/],
  ['an object with NUL', { id: 'sub\0', status: 'active' }, /object.id has characters/],
  [
    'half of an object’s character',
    { id: '\udc00', status: 'canceled' },
    /object.id has characters/,
  ],
]

t.test('what PostgreSQL will never accept makes the event dead at once', async (t) => {
  const database = await createDatabase(t)
  await createUser(database, { billingCustomer: 'cus_1' })
  const queue = await startQueue(t, database, 'web')
  for (const [index, [, object]] of unstorable.entries()) {
    const type = 'status' in object ? 'subscription.updated' : 'charge.succeeded'
    const event = { id: `evt_${index}`, type, object: { ...charge, ...object } }
    await queue.send('billing-event', { eventId: await receive(database, event) })
  }
  const worker = await startTestWorker(t, database)
  await worker.attempts(unstorable.length)
  await worker.stop()
  for (const [index, [name, , reason]] of unstorable.entries()) {
    const state = await stateOf(database, `evt_${index}`)
    t.match(state, { status: 'dead', attempts: 1, last_error: reason }, name)
  }
  const states = Object.values(await jobsOf(database)).map(({ state }) => state)
  t.strictSame(new Set(states), new Set(['completed']), 'no try is left')
})

t.test('a rule of the database that no try will pass makes the event dead at once', async (t) => {
  const rules: [string, string, RegExp][] = [
    ['a check', 'ADD CHECK (amount < 100)', /check constraint/],
    ['a length', 'ALTER COLUMN currency TYPE varchar(2)', /too long/],
    ['a range', 'ALTER COLUMN amount TYPE smallint', /out of range/],
  ]
  for (const [name, change, reason] of rules) {
    const database = await createDatabase(t)
    await createUser(database, { billingCustomer: 'cus_1' })
    await database.admin.query(`ALTER TABLE invoices ${change}`)
    const queue = await startQueue(t, database, 'web')
    const object = { ...charge, amount: 40_000 }
    const event = { id: 'evt_1', type: 'charge.succeeded', object }
    await queue.send('billing-event', { eventId: await receive(database, event) })
    const worker = await startTestWorker(t, database)
    await worker.attempts(1)
    await worker.stop()
    t.match(await stateOf(database), { status: 'dead', attempts: 1, last_error: reason }, name)
    t.match(await jobsOf(database), { evt_1: { state: 'completed' } })
  }
})

t.test(
  'an event whose failure cannot be recorded does not block the others of its batch',
  async (t) => {
    const database = await createDatabase(t)
    await createUser(database, { billingCustomer: 'cus_1' })
    await database.admin.query("ALTER TABLE received_events ADD CHECK (status <> 'dead')")
    const queue = await startQueue(t, database, 'web')
    const poison = { id: 'evt_poison', type: 'charge.succeeded', object: {} }
    for (const event of [poison, { id: 'evt_good', type: 'charge.succeeded' }]) {
      await queue.send('billing-event', { eventId: await receive(database, event) })
    }
    const worker = await startTestWorker(t, database)
    await worker.attempts(2)
    await worker.stop()
    const jobs = await jobsOf(database)
    t.match(jobs, { evt_poison: { state: 'retry' }, evt_good: { state: 'completed' } })
  },
)

t.test('on stop, the job in progress finishes', async (t) => {
  const database = await createDatabase(t)
  await createUser(database, { billingCustomer: 'cus_1' })
  const worker = await startTestWorker(t, database)
  const blocker = await database.admin.connect()
  await blocker.query('BEGIN; LOCK TABLE invoices IN ACCESS EXCLUSIVE MODE')
  await enqueue(database, { id: 'evt_1', type: 'charge.succeeded' }, worker)
  await until(database, "SELECT FROM pgboss.job WHERE name = 'billing-event' AND state = 'active'")
  await untilBlocked(database)
  const stopped = worker.stop()
  await blocker.query('ROLLBACK')
  blocker.release()
  await stopped
  t.match(await jobsOf(database), { evt_1: { state: 'completed' } })
  t.equal((await invoicesOf(database)).length, 1)
})

t.test('the queue works with the privileges of its roles', async (t) => {
  const database = await createDatabase(t)
  for (const duty of ['web', 'worker'] as const) {
    const problems: unknown[] = []
    const url = duty === 'web' ? database.url : database.workerUrl
    const queue = openQueue(url, duty, (error) => problems.push(error))
    queue.on('warning', (warning) => problems.push(warning))
    await queue.start()
    await queue.send('billing-event', { eventId: 'evt_1' })
    if (duty === 'worker') {
      const [done, failed] = await queue.fetch('billing-event', { batchSize: 2 })
      await queue.complete('billing-event', done?.id ?? '')
      await queue.fail('billing-event', failed?.id ?? '', { reason: 'x' })
      await queue.supervise()
      // Makes maintenance due: old jobs are deleted, hanging ones expire.
      await database.admin.query(
        `UPDATE pgboss.job SET completed_on = now() - interval '1 year', keep_until = now();
         UPDATE pgboss.queue SET maintain_on = NULL, monitor_on = NULL, monitor_claim_on = NULL`,
      )
      await queue.supervise()
    }
    await queue.stop({ graceful: false })
    t.strictSame(problems, [], duty)
  }
})
