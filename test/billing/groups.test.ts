import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { eventQueue } from '#src/billing/job.ts'
import { lockUntilCommit } from '#src/db/advisory-lock.ts'
import { transactionOf } from '#src/queue/jobs.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { until, untilBlocked } from '#test/support/database/until.ts'
import {
  enqueue,
  jobsOf,
  startQueue,
  startTestWorker,
} from '#test/support/processes/running-worker.ts'
import { charge, invoicesOf, openAsWorker, stateOf } from './received.ts'

t.test('an object whose provider call hangs holds no other event back', async (t) => {
  const database = await createDatabase(t)
  await createUser(database, { billingCustomer: 'cus_1' })
  const queue = await startQueue(t, database, 'web')
  const api = await startApi(t, () => {})
  const objects = [
    ...Array(30).fill('sub_one'),
    ...Array.from({ length: 60 }, (_, n) => `sub_${n}`),
  ]
  for (const [n, id] of objects.entries()) {
    const object = { id, customer: 'cus_1', status: 'active' }
    await enqueue(database, { id: `evt_${n}`, type: 'subscription.updated', object }, { queue })
  }
  const worker = await startTestWorker(t, database, api.settings)
  await api.untilCalls(5)
  await enqueue(database, { id: 'evt_charge', type: 'charge.succeeded' }, { queue })
  await until(database, `SELECT FROM received_events WHERE status = 'processed'`)
  t.ok(api.calls() < new Set(objects).size, 'before each of the earlier objects was called')
  t.equal((await invoicesOf(database)).length, 1)
  t.ok(api.most('sub_one') <= 1, 'one call about an object at a time')
  await worker.stop()
})

t.test('a customer whose provider calls hang holds no other customer back', async (t) => {
  const database = await createDatabase(t)
  for (const billingCustomer of ['cus_1', 'cus_2']) await createUser(database, { billingCustomer })
  const queue = await startQueue(t, database, 'web')
  const api = await startApi(t, (id, response) => {
    if (id === 'sub_other')
      response.end(JSON.stringify({ id, customer: 'cus_2', status: 'active' }))
  })
  const objects = Array.from({ length: 60 }, (_, n) => `sub_${n}`)
  for (const id of [...objects, 'sub_other']) {
    const customer = id === 'sub_other' ? 'cus_2' : 'cus_1'
    const object = { id, customer, status: 'active' }
    await enqueue(database, { id: `evt_${id}`, type: 'subscription.updated', object }, { queue })
  }
  const worker = await startTestWorker(t, database, api.settings)
  await until(database, `SELECT FROM received_events WHERE status = 'processed'`)
  t.match(await stateOf(database, 'evt_sub_other'), { status: 'processed' })
  t.ok(api.calls() < objects.length, 'before each of the earlier ones was called')
  const { rows } = await database.admin.query(
    `SELECT FROM received_events WHERE status = 'recorded' AND attempts = 0`,
  )
  t.ok(rows.length > 0, 'the others are not tried yet')
  const jobs = Object.values(await jobsOf(database))
  t.ok(jobs.length >= objects.length, 'and keep their jobs')
  await worker.stop()
})

t.test(
  'the events of one object are processed one after another, in all workers together',
  async (t) => {
    const database = await createDatabase(t)
    await createUser(database, { billingCustomer: 'cus_1' })
    const queue = await startQueue(t, database, 'web')
    const { promise: bothOpen, resolve } = Promise.withResolvers<void>()
    const api = await startApi(t, async (id, response) => {
      if (api.most() > 1) resolve()
      await bothOpen
      setTimeout(() => {
        response.end(JSON.stringify({ id, customer: 'cus_1', status: 'active' }))
      }, 20)
    })
    const workers = await Promise.all([1, 2].map(() => startTestWorker(t, database, api.settings)))
    for (let n = 0; n < 40; n++) {
      const object = { id: `sub_${n % 4}`, customer: 'cus_1', status: 'active' }
      await enqueue(database, { id: `evt_${n}`, type: 'subscription.updated', object }, { queue })
    }
    await until(database, `SELECT FROM received_events HAVING every(status = 'processed')`)
    await Promise.all(workers.map((worker) => worker.stop()))
    t.strictSame(
      [0, 1, 2, 3].map((n) => api.most(`sub_${n}`)),
      [1, 1, 1, 1],
    )
    t.ok(api.most() > 1, 'other objects in parallel')
  },
)

t.test('of two fetches at once, only one takes an event of an object', async (t) => {
  const database = await createDatabase(t)
  await createUser(database, { billingCustomer: 'cus_1' })
  const { systemDb } = openAsWorker(t, database)
  const queue = await startQueue(t, database, 'worker')
  const object = { ...charge, id: 'ch_1' }
  for (const id of ['evt_1', 'evt_2']) await enqueue(database, { id, object }, { queue })
  await systemDb.transaction({ statementTimeoutMs: 10_000 }, async (connection) => {
    await lockUntilCommit(connection, 'billing-fetch')
    const db = transactionOf(connection)
    t.equal((await queue.fetch(eventQueue, { groupConcurrency: 1, db })).length, 1)
    await startTestWorker(t, database)
    await untilBlocked(database)
    t.match(await stateOf(database, 'evt_2'), { status: 'recorded' })
  })
  await until(database, `SELECT FROM received_events HAVING every(status = 'processed')`)
  t.match(await jobsOf(database), { evt_1: { retry_count: 1 }, evt_2: { retry_count: 0 } })
})

/** A billing API that counts the calls in progress. */
async function startApi(t: Test, answer: (id: string, response: ServerResponse) => void) {
  const open = new Map<string, number>()
  const most = new Map<string, number>()
  let calls = 0
  const count = (id: string, change: number) => {
    const now = (open.get(id) ?? 0) + change
    open.set(id, now)
    most.set(id, Math.max(most.get(id) ?? 0, now))
  }
  const server = createServer(({ url = '' }, response) => {
    const id = url.split('/').at(-1) ?? ''
    calls += 1
    for (const key of [id, '']) count(key, 1)
    response.on('close', () => {
      for (const key of [id, '']) count(key, -1)
    })
    answer(id, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    settings: { BILLING_API_URL: `http://127.0.0.1:${port}`, BILLING_API_KEY: 'key' },
    /** The most calls in progress at once, about one object or about all. */
    most: (id = '') => most.get(id) ?? 0,
    calls: () => calls,
    async untilCalls(wanted: number) {
      while (calls < wanted) await once(server, 'request')
    },
  }
}
