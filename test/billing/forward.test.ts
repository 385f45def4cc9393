import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { type Receiver, startReceiver } from '#dev/testing/receiver.ts'
import { addForward, workForwards } from '#src/billing/forward.ts'
import { newEventJob } from '#src/billing/job.ts'
import { applyEvent } from '#src/billing/process.ts'
import { withoutScope } from '#src/db/entry.ts'
import { createMetrics } from '#src/observability/metrics.ts'
import { startDueJobs } from '#src/queue/due-jobs.ts'
import { build } from '#test/support/app/app.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { until } from '#test/support/database/until.ts'
import { enqueue, startQueue, startTestWorker } from '#test/support/processes/running-worker.ts'
import { bodyOf, charge, openAsWorker, parsed, receive } from './received.ts'

const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
const former = `whsec_${Buffer.alloc(32, 2).toString('base64')}`
const now = new Date('2026-11-21T12:00:00Z')

/** The settings of an installation whose app is this receiver. */
function settingsFor({ url }: Receiver): Record<string, string> {
  return {
    APP_WEBHOOK_URL: `${url}/billing?from=gatehouse`,
    APP_WEBHOOK_SECRETS: `${secret},${former}`,
    OUTBOUND_RETRY_SECONDS: '0,0,0',
  }
}

async function open(t: Test) {
  const database = await createDatabase(t)
  await createUser(database, { billingCustomer: 'cus_1' })
  const app = await startReceiver()
  t.teardown(() => app.close())
  return { database, app, settings: settingsFor(app) }
}

/** Records an event whose job a worker that is already running takes. */
async function process(database: TestDatabase, t: Test, event: Parameters<typeof receive>[1]) {
  await enqueue(database, event, { queue: await startQueue(t, database, 'web') })
}

async function forwardingOf({ admin }: TestDatabase, eventId = 'evt_1') {
  const { rows } = await admin.query(
    `SELECT forwarding, forward_attempts AS attempts, forward_error AS error
     FROM received_events WHERE event_id = $1`,
    [eventId],
  )
  return rows[0]
}

const untilForwarding = (database: TestDatabase, status: string, eventId = 'evt_1') =>
  until(
    database,
    `SELECT FROM received_events WHERE event_id = '${eventId}' AND forwarding = '${status}'`,
  )

t.test('a processed event is posted to the app, signed, with what the provider sent', async (t) => {
  const { database, app, settings } = await open(t)
  await startTestWorker(t, database, settings)
  const object = { ...charge, note: 'é', exact: 1 }
  // A number that JavaScript would round.
  const body = Buffer.from(
    bodyOf({ id: 'evt_1', object }).toString().replace('"exact":1', '"exact":12345678901234567891'),
  )
  await process(database, t, { id: 'evt_1', body })
  const request = await app.next()
  t.equal(request.method, 'POST')
  t.equal(request.url, '/billing?from=gatehouse')
  const text = request.body.toString()
  for (const one of [secret, former]) {
    t.doesNotThrow(() => new Webhook(one).verify(text, request.headers as Record<string, string>))
  }
  const other = `whsec_${Buffer.alloc(32, 3).toString('base64')}`
  t.throws(() => new Webhook(other).verify(text, request.headers as Record<string, string>))
  t.match(request.headers, { 'webhook-id': 'evt_1', 'content-type': 'application/json' })
  t.match(JSON.parse(text), {
    id: 'evt_1',
    type: 'charge.succeeded',
    createdAt: /^\d{4}-\d\d-\d\dT.*Z$/,
    data: { id: 'evt_1', data: { object: { customer: 'cus_1', note: 'é' } } },
  })
  t.ok(text.includes('"exact":12345678901234567891'), 'the bytes of the provider')
  await untilForwarding(database, 'delivered')
  t.strictSame(await forwardingOf(database), { forwarding: 'delivered', attempts: 1, error: null })
  const { rows } = await database.admin.query(
    `SELECT state::text FROM pgboss.job WHERE name = 'billing-forward'`,
  )
  t.strictSame(rows, [{ state: 'completed' }])
})

t.test('what is not processed is not posted', async (t) => {
  const { database, app, settings } = await open(t)
  await startTestWorker(t, database, settings)
  await process(database, t, { id: 'poison', object: { ...charge, amount: 'none' } })
  await process(database, t, { id: 'unlinked', object: { ...charge, customer: 'cus_nobody' } })
  await until(
    database,
    `SELECT FROM received_events HAVING every(status IN ('dead', 'unlinked')) AND count(*) = 2`,
  )
  await process(database, t, { id: 'good' })
  t.equal((await app.next()).headers['webhook-id'], 'good')
  await untilForwarding(database, 'delivered', 'good')
  t.equal(app.requests.length, 1)
  t.match(await forwardingOf(database, 'poison'), { forwarding: null, attempts: 0 })
  t.match(await forwardingOf(database, 'unlinked'), { forwarding: null, attempts: 0 })
})

t.test('an app that fails is asked again, then an operator sees it and posts again', async (t) => {
  const { database, app, settings } = await open(t)
  app.respond((_request, response) => response.writeHead(503).end())
  const { queue } = await startTestWorker(t, database, settings)
  await process(database, t, { id: 'evt_1' })
  await untilForwarding(database, 'failed')
  t.strictSame(
    app.requests.map(({ headers }) => headers['webhook-id']),
    ['evt_1', 'evt_1', 'evt_1'],
  )
  t.strictSame(await forwardingOf(database), {
    forwarding: 'failed',
    attempts: 3,
    error: 'the app answered 503',
  })

  app.respond((_request, response) => response.writeHead(200).end())
  await database.admin.query(
    `INSERT INTO billing_replays (id, event_ids, received_to, total)
     VALUES (gen_random_uuid(), '{evt_1}', 'infinity', 1)`,
  )
  const { rows } = await database.admin.query('SELECT id FROM billing_replays')
  const origin = { replayId: rows[0].id }
  await queue.insert('billing-event', [
    newEventJob('evt_1', parsed(bodyOf({ id: 'evt_1' })), origin),
  ])
  await untilForwarding(database, 'delivered')
  t.strictSame(await forwardingOf(database), { forwarding: 'delivered', attempts: 1, error: null })
  const { rows: invoices } = await database.admin.query('SELECT FROM invoices')
  t.equal(invoices.length, 1, 'no effect is doubled')
})

t.test('an app gets the wait that it asks for', async (t) => {
  const { database, app, settings } = await open(t)
  app.respond((_request, response) => response.writeHead(503, { 'retry-after': '9000' }).end())
  await startTestWorker(t, database, settings)
  await process(database, t, { id: 'evt_1' })
  await until(database, 'SELECT FROM received_events WHERE forward_attempts = 1')
  const { rows } = await database.admin.query(
    `SELECT extract(epoch FROM start_after - now())::int AS seconds FROM pgboss.job
     WHERE name = 'billing-forward' AND state < 'active'`,
  )
  const [{ seconds }] = rows
  t.ok(seconds > 7_140 && seconds <= 7_200, `two hours at most: ${seconds}`)
  t.equal(app.requests.length, 1)
})

t.test('a job that waits for an event that the app has by then ends without a post', async (t) => {
  const { database, app, settings } = await open(t)
  app.respond((_request, response) => response.writeHead(503).end())
  await startTestWorker(t, database, { ...settings, OUTBOUND_RETRY_SECONDS: '0,3600' })
  await process(database, t, { id: 'evt_1' })
  await until(database, 'SELECT FROM received_events WHERE forward_attempts = 1')
  const posts = app.requests.length
  await database.admin.query(
    `UPDATE received_events SET forwarding = 'delivered', forward_error = NULL;
     UPDATE pgboss.job SET start_after = now() WHERE name = 'billing-forward'`,
  )
  await until(
    database,
    `SELECT FROM pgboss.job WHERE name = 'billing-forward' AND state = 'completed'`,
  )
  t.equal(app.requests.length, posts)
  t.match(await forwardingOf(database), { forwarding: 'delivered', attempts: 1 })
})

t.test('of two jobs for one event one goes on, with all attempts of the schedule', async (t) => {
  const { database, app, settings } = await open(t)
  app.respond((_request, response) => response.writeHead(503).end())
  await startTestWorker(t, database, { ...settings, OUTBOUND_RETRY_SECONDS: '0,3600,3600' })
  await process(database, t, { id: 'evt_1' })
  await until(database, 'SELECT FROM received_events WHERE forward_attempts = 1')
  const { db } = openAsWorker(t, database)
  const queue = await startQueue(t, database, 'worker')
  await db.write(withoutScope, (tx) => addForward(tx, queue, 'evt_1', [0]))
  await until(
    database,
    `SELECT FROM received_events, pgboss.job WHERE forward_attempts = 1 AND name = 'billing-forward'
       AND state = 'created' HAVING count(*) = 2`,
  )
  const states = `SELECT state::text, data->'attempts' AS attempts FROM pgboss.job
    WHERE name = 'billing-forward' ORDER BY completed_on NULLS LAST`
  const next = () =>
    database.admin.query(
      `UPDATE pgboss.job SET start_after = now() WHERE name = 'billing-forward' AND state = 'created'`,
    )
  await next()
  await until(
    database,
    `SELECT FROM pgboss.job WHERE name = 'billing-forward' AND state = 'completed'`,
  )
  await until(database, 'SELECT FROM received_events WHERE forward_attempts = 2')
  t.strictSame((await database.admin.query(states)).rows, [
    { state: 'completed', attempts: 1 },
    { state: 'created', attempts: 2 },
  ])
  await next()
  await untilForwarding(database, 'failed')
  t.match(await forwardingOf(database), { attempts: 3 })
})

t.test('a job that was taken away while the app answered keeps its attempt', async (t) => {
  const { database, app, settings } = await open(t)
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  app.respond(async (_request, response) => {
    await answered
    response.writeHead(503).end()
  })
  const { queue } = await startTestWorker(t, database, {
    ...settings,
    OUTBOUND_RETRY_SECONDS: '0,3600',
  })
  await process(database, t, { id: 'evt_1' })
  await app.next()
  const { rows } = await database.admin.query<{ id: string }>(
    `SELECT id FROM pgboss.job WHERE name = 'billing-forward' AND state = 'active'`,
  )
  const [job] = rows
  if (job === undefined) throw new Error('no job is active')
  // As another worker does whose jobs of a dead one return.
  await queue.fail('billing-forward', job.id)
  answer()
  await until(database, 'SELECT FROM received_events WHERE forward_attempts = 1')
  const { rows: jobs } = await database.admin.query(
    `SELECT state::text, data->'attempts' AS attempts FROM pgboss.job WHERE name = 'billing-forward'`,
  )
  t.strictSame(jobs, [{ state: 'created', attempts: 1 }], 'it goes on')
  t.equal(app.requests.length, 2)
})

t.test('waits between attempts are those of deliveries', async (t) => {
  const { database, app, settings } = await open(t)
  app.respond((_request, response) => response.writeHead(500).end())
  await startTestWorker(t, database, { ...settings, OUTBOUND_RETRY_SECONDS: '0,300,3600' })
  await process(database, t, { id: 'evt_1' })
  const waits = () =>
    database.admin.query(
      `SELECT round(extract(epoch FROM start_after - forwarded_at)) AS seconds, retry_count AS tries
       FROM pgboss.job, received_events WHERE name = 'billing-forward' AND state = 'created'
         AND forward_attempts > 0`,
    )
  await until(database, 'SELECT FROM received_events WHERE forward_attempts = 1')
  t.match((await waits()).rows, [{ seconds: /^(299|300|301)$/, tries: 0 }])
  await database.admin.query(
    `UPDATE pgboss.job SET start_after = now() WHERE name = 'billing-forward'`,
  )
  await until(database, 'SELECT FROM received_events WHERE forward_attempts = 2')
  t.match((await waits()).rows, [{ seconds: /^(3599|3600|3601)$/, tries: 0 }])
})

t.test('an app that answers too late, redirects or hangs up has not got the event', async (t) => {
  const { database, app, settings } = await open(t)
  const slow: (() => void)[] = []
  t.teardown(() => {
    for (const end of slow) end()
  })
  app.respond(({ headers }, response) => {
    if (headers['webhook-id'] === 'late') slow.push(() => response.end())
    else if (headers['webhook-id'] === 'moved') {
      response.writeHead(307, { location: `${app.url}/elsewhere` }).end()
    } else response.destroy()
  })
  const quick = { OUTBOUND_TIMEOUT_MS: '2000', OUTBOUND_RETRY_SECONDS: '0' }
  await startTestWorker(t, database, { ...settings, ...quick })
  const errors = { late: /^timeout: /, moved: /^the app answered 307$/, closed: /^closed: / }
  for (const [id, error] of Object.entries(errors)) {
    await process(database, t, { id })
    await untilForwarding(database, 'failed', id)
    t.match(await forwardingOf(database, id), { attempts: 1, error }, id)
  }
  t.notOk(app.requests.some(({ url }) => url === '/elsewhere'))
})

t.test('an event that a standby has not replayed yet is posted by the next try', async (t) => {
  const { database, app, settings } = await open(t)
  const { db, systemDb } = openAsWorker(t, database)
  const queue = await startQueue(t, database, 'worker')
  await receive(database, { id: 'evt_1' })
  const onProcessed = (tx: Parameters<typeof addForward>[0]) => addForward(tx, queue, 'evt_1', [0])
  await applyEvent(db, 'evt_1', now, { onProcessed })
  const warnings: string[] = []
  const logger = { info() {}, warn() {}, error: (_: object, text: string) => warnings.push(text) }
  const due = await startDueJobs({ queue, listens: false, logger })
  t.teardown(() => due.stop())
  let isBehind = true
  const read: typeof db.read = async (entry, work) => {
    if (!isBehind) return db.read(entry, work)
    isBehind = false
    return null as never
  }
  const forwards = await workForwards(
    { url: settings.APP_WEBHOOK_URL ?? '', secrets: [secret] },
    { retrySeconds: [0], timeoutMs: 5_000, perAddress: 20 },
    {
      ...{ queue, due, db: { ...db, read }, systemDb, logger },
      ...{ clock: { now: () => new Date() }, metrics: createMetrics().billing },
    } as unknown as Parameters<typeof workForwards>[2],
  )
  t.teardown(() => forwards.stop())
  await untilForwarding(database, 'delivered')
  t.equal((await app.next()).headers['webhook-id'], 'evt_1')
  t.strictSame(warnings, ['billing event not posted to the app'])
})

t.test('nothing is posted for an effect that was rolled back', async (t) => {
  const { database } = await open(t)
  const { db } = openAsWorker(t, database)
  const queue = await startQueue(t, database, 'worker')
  await receive(database, { id: 'evt_1' })
  const onProcessed = (tx: Parameters<typeof addForward>[0]) => addForward(tx, queue, 'evt_1', [0])
  const settle = async () => {
    throw new Error('the job is gone')
  }
  await t.rejects(applyEvent(db, 'evt_1', now, { onProcessed, settle }), /the job is gone/)
  t.match(await forwardingOf(database), { forwarding: null })
  const jobs = `SELECT FROM pgboss.job WHERE name = 'billing-forward'`
  t.equal((await database.admin.query(jobs)).rowCount, 0)
  t.equal(await applyEvent(db, 'evt_1', now, { onProcessed }), 'processed')
  t.equal(await applyEvent(db, 'evt_1', now, { onProcessed }), 'already-processed')
  t.match(await forwardingOf(database), { forwarding: 'waiting' })
  t.equal((await database.admin.query(jobs)).rowCount, 1, 'once')
})

t.test('a worker that ends between processing and posting loses nothing', async (t) => {
  const { database, app, settings } = await open(t)
  const lost = await startQueue(t, database, 'worker')
  const { db } = openAsWorker(t, database)
  await receive(database, { id: 'evt_1' })
  await applyEvent(db, 'evt_1', now, { onProcessed: (tx) => addForward(tx, lost, 'evt_1', [0]) })
  t.equal((await lost.fetch('billing-forward')).length, 1, 'fetched and never posted')
  await startTestWorker(t, database, settings)
  t.equal((await app.next()).headers['webhook-id'], 'evt_1')
  await untilForwarding(database, 'delivered')
})

t.test('the address of the app is open to nobody else', async (t) => {
  const app = await startReceiver()
  t.teardown(() => app.close())
  const test = await build(t, settingsFor(app))
  const send = as(test, await signIn(test, await createUser(test.database, { role: 'admin' })))
  const url = settingsFor(app).APP_WEBHOOK_URL
  t.equal((await send('POST', '/webhook-endpoints', { url })).statusCode, 400)
  t.equal(app.requests.length, 0)
})
