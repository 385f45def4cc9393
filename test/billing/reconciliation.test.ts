import t, { type Test } from 'tap'
import { startBillingApi } from '#dev/demo/billing-api.ts'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import type { EventListApi, EventRange } from '#src/billing/provider-api.ts'
import { createProviderApi } from '#src/billing/provider-api.ts'
import { signed } from '#src/billing/providers/signed.ts'
import {
  createReconciliation,
  findReconciliation,
  listReconciliations,
  measureReconciliation,
  purgeReconciliations,
  reconcile,
  scheduleReconciliation,
} from '#src/billing/reconciliation.ts'
import { sampleEvent } from '#src/billing/sample.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { createMetrics } from '#src/observability/metrics.ts'
import { openQueue } from '#src/queue/queue.ts'
import { send } from '#test/routes/webhooks/send-event.ts'
import { build } from '#test/support/app/app.ts'
import { addIdentity } from '#test/support/callers/account.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { patient } from '#test/support/database/open.ts'
import { untilTrue } from '#test/support/database/until.ts'
import { startTestWorker } from '#test/support/processes/running-worker.ts'
import { invoicesOf, openAsWorker, receive } from './received.ts'

const key = 'a key of the billing API'
const now = Math.floor(Date.now() / 1_000)
const minutesAgo = (minutes: number) => now - minutes * 60

function eventOf(id: string, { created = minutesAgo(60), type = 'charge.succeeded' } = {}) {
  const facts = { customer: 'cus_1', amount: 4900, currency: 'EUR', status: 'active' }
  return JSON.parse(sampleEvent({ id, type, created, ...facts }))
}

t.test('what never arrived is recorded once, and processed like a webhook', async (t) => {
  const { app, config, database } = await build(t, { OPERATORS: 'demo:olga' })
  const { tenantId } = await createUser(database, { billingCustomer: 'cus_1' })
  const api = await startBillingApi(key)
  t.teardown(() => api.stop())
  api.list(eventOf('evt_missed'))
  api.list(eventOf('evt_known'))
  api.list(eventOf('evt_unknown_kind', { type: 'payout.paid' }))
  api.list(eventOf('evt_on_its_way', { created: minutesAgo(5) }))
  api.list(eventOf('evt_long_ago', { created: minutesAgo(25 * 60) }))
  await receive(database, {
    id: 'evt_known',
    status: 'processed',
    body: Buffer.from(JSON.stringify(eventOf('evt_known'), null, 2)),
  })
  await startTestWorker(t, database, { BILLING_API_URL: api.url, BILLING_API_KEY: key })
  const scheduled = await untilFinished(database, true)
  t.match(scheduled, {
    ...{ status: 'finished', seen: 3, missed: 2, different: 0, refused: 0, dry_run: false },
    missed_ids: ['evt_missed', 'evt_unknown_kind'],
  })
  await untilTrue(async () => (await invoicesOf(database)).length === 1)
  t.match(await invoicesOf(database), [{ tenant_id: tenantId, source_event: 'evt_missed' }])

  const olga = await createUser(database)
  await addIdentity({ database }, olga.userId, 'olga')
  const { cookie } = await signIn({ config, database }, olga)
  const ask = as({ app }, { cookie })
  const event = await ask('GET', '/billing/events/evt_missed')
  t.match(event.json(), { source: 'reconciled', otherBodies: 0 })
  t.match((await ask('GET', '/billing/events/evt_known')).json(), { source: 'webhook' })

  const late = await send(app, JSON.stringify(eventOf('evt_missed')))
  t.equal(late.statusCode, 200, 'the webhook that arrives late is a duplicate')
  t.match((await ask('GET', '/billing/events/evt_missed')).json(), { otherBodies: 0 })

  const started = await ask('POST', '/billing/reconciliations', {})
  t.equal(started.statusCode, 202)
  const { id } = started.json()
  await untilTrue(async () => {
    return (await ask('GET', `/billing/reconciliations/${id}`)).json().status !== 'running'
  })
  t.match((await ask('GET', `/billing/reconciliations/${id}`)).json(), {
    ...{ status: 'finished', scheduled: false, dryRun: false, seen: 3, missed: 0, error: null },
  })
  const { data } = (await ask('GET', '/billing/reconciliations')).json()
  t.strictSame(
    data.map(({ scheduled }: { scheduled: boolean }) => scheduled),
    [false, true],
  )
  t.equal((await invoicesOf(database)).length, 1)
})

t.test('a dry run counts and records nothing', async (t) => {
  const world = await open(t, listOf([eventOf('a'), eventOf('b')]))
  await receive(world.database, { id: 'b', body: Buffer.from(JSON.stringify(eventOf('b'))) })
  t.match(await world.run({ dryRun: true }), { seen: 2, missed: 1, missedIds: ['a'] })
  t.equal(await world.countEvents(), 1)
  t.match(await world.run({}), { seen: 2, missed: 1, missedIds: ['a'] })
  t.equal(await world.countEvents(), 2)
})

t.test('an interrupted run goes on where it was, and records nothing twice', async (t) => {
  const pages = [[eventOf('a')], [eventOf('b'), eventOf('a')], [eventOf('c')]]
  const world = await open(t, {
    async listEvents({ after }) {
      const at = Number(after ?? 0)
      return { items: pages[at] ?? [], next: at < 2 ? String(at + 1) : null }
    },
  })
  const id = await world.begin({})
  // As a worker that is killed: its job is tried again, and the run goes on.
  await t.rejects(reconcile(world.failingAt(2), signed, world.api, id), /the connection is gone/)
  t.match(await findReconciliation(world.systemDb, id), { status: 'running', seen: 1, missed: 1 })
  await reconcile(world.systemDb, signed, world.api, id)
  t.match(await findReconciliation(world.systemDb, id), {
    ...{ status: 'finished', seen: 4, missed: 3, missedIds: ['a', 'b', 'c'] },
  })
  t.equal(await world.countEvents(), 3)
  await reconcile(world.systemDb, signed, world.api, id)
  t.match(await findReconciliation(world.systemDb, id), { seen: 4 }, 'a finished run stays')
})

t.test('two workers on one run record each event once', async (t) => {
  const pages = Array.from({ length: 5 }, (_, page) => [eventOf(`e${page}`), eventOf(`f${page}`)])
  const world = await open(t, {
    async listEvents({ after }) {
      const at = Number(after ?? 0)
      return { items: pages[at] ?? [], next: at < 4 ? String(at + 1) : null }
    },
  })
  const id = await world.begin({})
  const both = await Promise.allSettled([
    reconcile(world.systemDb, signed, world.api, id),
    reconcile(world.systemDb, signed, world.api, id),
  ])
  t.ok(both.some(({ status }) => status === 'fulfilled'))
  t.match(await findReconciliation(world.systemDb, id), {
    status: 'finished',
    seen: 10,
    missed: 10,
  })
  t.equal(await world.countEvents(), 10)
})

t.test('a provider that repeats or reorders its events gets each recorded once', async (t) => {
  for (const fault of ['repeat', 'reorder'] as const) {
    const { world, api } = await openSample(t, 150)
    api.fail(fault, 1)
    const seen = fault === 'repeat' ? 300 : 150
    t.match(await world.run({}), { status: 'finished', seen, missed: 150, different: 0 }, fault)
    t.equal(await world.countEvents(), 150, fault)
    const jobs = await world.database.admin.query(
      `SELECT FROM pgboss.job_common WHERE name = 'billing-event'`,
    )
    t.equal(jobs.rowCount, 150, `${fault}: and has one job`)
    t.match(await world.run({}), { seen: 150, missed: 0, different: 0 }, `${fault}: the true list`)
  }
})

t.test('an event that the provider forgets is recorded by the next scheduled run', async (t) => {
  const { world, api } = await openSample(t, 3)
  const runScheduled = async () => {
    await scheduleReconciliation(world.systemDb, world.queue, 900)
    const { rows } = await world.database.admin.query<{ id: string }>(
      `SELECT id FROM billing_reconciliations WHERE status = 'running'`,
    )
    for (const { id } of rows) await reconcile(world.systemDb, signed, world.api, id)
    return findReconciliation(world.systemDb, rows[0]?.id ?? '')
  }
  api.fail('forget', 1)
  t.match(await runScheduled(), { status: 'finished', seen: 2, missedIds: ['evt_0', 'evt_1'] })
  t.match(await runScheduled(), { status: 'finished', seen: 3, missedIds: ['evt_2'] })
  t.equal(await world.countEvents(), 3)
})

t.test('a provider that lies about what was received changes nothing', async (t) => {
  const { world, api } = await openSample(t, 2)
  const stored = async () =>
    (await world.database.admin.query('SELECT body FROM received_events ORDER BY event_id')).rows
  await world.run({})
  const before = await stored()
  api.fail('lie', 1)
  t.match(await world.run({}), { missed: 0, different: 2, differentIds: ['evt_0', 'evt_1'] })
  t.strictSame(await stored(), before)
  t.match(await world.run({}), { missed: 0, different: 0 }, 'the true list again')
})

t.test('a provider that lies or never ends fails the run with the reason', async (t) => {
  const many = Array.from({ length: 101 }, (_, n) => eventOf(`m${n}`))
  const cases: [string, EventListApi | null, RegExp][] = [
    ['no API', null, /BILLING_API_KEY is not set/],
    [
      'the same cursor',
      { listEvents: async () => ({ items: [], next: 'x' }) },
      /repeats its cursor/,
    ],
    ['a circle', circle(['a', 'b', 'c']), /repeats its cursor/],
    ['without end', endless(), /does not end within 1000 pages/],
    ['an error', answering(500, {}), /answered 500/],
    ['a redirect', answering(302, {}), /answered 302/],
    ['no list', answering(200, { data: {} }), /no list of events/],
    ['an empty cursor', answering(200, { data: [], next: '' }), /no list of events/],
    ['a cursor with NUL', answering(200, { data: [], next: 'a\0b' }), /no list of events/],
    ['half a character', answering(200, { data: [], next: 'a\ud800' }), /no list of events/],
    ['a cursor that is none', answering(200, { data: [], next: 7 }), /no list of events/],
    ['too many', answering(200, { data: many, next: null }), /no list of events/],
  ]
  for (const [name, api, reason] of cases) {
    const world = await open(t, api)
    const run = await world.run({})
    t.equal(run?.status, 'failed', name)
    t.match(run?.error, reason, name)
    t.equal(await world.countEvents(), 0, name)
  }
})

t.test('what is no event, or of another time, is refused and the rest recorded', async (t) => {
  const world = await open(
    t,
    listOf([
      null,
      'evt',
      {},
      { id: 7, type: 'charge.succeeded' },
      { id: 'a\u0000b', type: 'charge.succeeded' },
      eventOf('future', { created: now + 86_400 }),
      eventOf('past', { created: minutesAgo(60 * 72) }),
      eventOf('fine'),
      eventOf('fine'),
    ]),
  )
  t.match(await world.run({}), { status: 'finished', seen: 1, missed: 1, refused: 8 })
  t.equal(await world.countEvents(), 1)
})

t.test('another content than received is reported and never stored', async (t) => {
  const world = await open(t, listOf([eventOf('a'), eventOf('b')]))
  const other = { ...eventOf('b'), data: { object: { id: 'ch_b', customer: 'cus_1', amount: 1 } } }
  await receive(world.database, { id: 'a', body: Buffer.from(JSON.stringify(eventOf('a'))) })
  await receive(world.database, { id: 'b', body: Buffer.from(JSON.stringify(other)) })
  t.match(await world.run({}), { missed: 0, different: 1, differentIds: ['b'] })
  const { rows } = await world.database.admin.query(
    `SELECT body FROM received_events WHERE event_id = 'b'`,
  )
  t.strictSame(JSON.parse(rows[0]?.body.toString()), other)
})

t.test('scheduled runs follow each other without a gap, one at a time', async (t) => {
  const asked: EventRange[] = []
  let isBroken = false
  const world = await open(t, {
    async listEvents(range) {
      asked.push(range)
      if (isBroken) throw new Error('the provider is away')
      return { items: [], next: null }
    },
  })
  const { systemDb, queue, database } = world
  const schedule = () => scheduleReconciliation(systemDb, queue, 900)
  const runAll = async () => {
    const { rows } = await database.admin.query<{ id: string }>(
      `SELECT id FROM billing_reconciliations WHERE status = 'running'`,
    )
    for (const { id } of rows) await reconcile(systemDb, signed, world.api, id)
    return rows.length
  }
  t.strictSame(await Promise.all([schedule(), schedule()]), [900, 900])
  t.equal(await runAll(), 1, 'one run, however many workers')
  // A day and a half without a worker.
  await database.admin.query(
    `UPDATE billing_reconciliations
     SET created_from = created_from - interval '36 hours', created_to = created_to - interval '36 hours'`,
  )
  isBroken = true
  t.equal(await schedule(), 0, 'the next one reaches no further than a day: another is due at once')
  await runAll()
  isBroken = false
  t.equal(await schedule(), 0)
  await runAll()
  t.equal(await schedule(), 900)
  await runAll()
  const [, failed, again, last] = asked
  t.strictSame(failed, again, 'after a failure the same events are asked for')
  t.ok(last && again && last.from <= again.to - 3_600, 'an hour is looked at twice')
  t.ok(last && last.to <= Math.ceil(Date.now() / 1_000) - 600, 'never the last ten minutes')

  await database.admin.query(`UPDATE billing_reconciliations SET finished_at = '2020-01-01'`)
  await purgeReconciliations(systemDb, 30)
  const { data } = await listReconciliations(systemDb, { limit: 10, after: null })
  t.equal(data.length, 1, 'what the next run follows is kept')
  t.equal(await schedule(), 900)
})

t.test(
  'as long as no run has finished, the next one begins where the first one began',
  async (t) => {
    const world = await open(t, null)
    const runScheduled = async () => {
      await scheduleReconciliation(world.systemDb, world.queue, 900)
      const { data } = await listReconciliations(world.systemDb, { limit: 1, after: null })
      await reconcile(world.systemDb, signed, null, data[0]?.id ?? '')
      return data[0]
    }
    await runScheduled()
    // Two days in which BILLING_API_KEY was missing.
    const { rows } = await world.database.admin.query<{ first: Date }>(
      `UPDATE billing_reconciliations SET created_from = created_from - interval '2 days',
       created_to = created_to - interval '2 days' RETURNING created_from AS first`,
    )
    t.equal((await runScheduled())?.from, rows[0]?.first.toISOString())
  },
)

t.test('after an outage a list of too many pages is read by several scheduled runs', async (t) => {
  const created = minutesAgo(6.5 * 24 * 60)
  const events = new Map(
    [0, 999, 1_000, 1_499].map((at) => [at, eventOf(`evt_${at}`, { created })]),
  )
  const asked: EventRange[] = []
  let isBroken = false
  let pages = 1
  const world = await open(t, {
    async listEvents(range) {
      asked.push(range)
      if (isBroken) throw new Error('the cursor is too old')
      const at = Number(range.after ?? 0)
      const event = pages > 1 && events.get(at)
      return { items: event ? [event] : [], next: at + 1 < pages ? String(at + 1) : null }
    },
  })
  const { systemDb, queue, database } = world
  const runScheduled = async () => {
    asked.length = 0
    const seconds = await scheduleReconciliation(systemDb, queue, 900)
    const { rows } = await database.admin.query<{ id: string }>(
      `SELECT id FROM billing_reconciliations WHERE status = 'running'`,
    )
    for (const { id } of rows) await reconcile(systemDb, signed, world.api, id)
    const run = await findReconciliation(systemDb, rows[0]?.id ?? '')
    return { ...run, seconds, first: asked[0] }
  }
  await runScheduled()
  // A week without a worker.
  await database.admin.query(
    `UPDATE billing_reconciliations
     SET created_from = created_from - interval '7 days', created_to = created_to - interval '7 days'`,
  )
  pages = 1_500
  const first = await runScheduled()
  t.match(first, {
    ...{ status: 'failed', error: /within 1000 pages/, seconds: 0 },
    missedIds: ['evt_0', 'evt_999'],
  })
  pages = 1
  t.match(await world.run({}), { status: 'finished', scheduled: false })
  pages = 1_500
  isBroken = true
  const broken = await runScheduled()
  t.match(broken, { status: 'failed', from: first.from, to: first.to, first: { after: '1000' } })
  isBroken = false
  const again = await runScheduled()
  t.match(
    again,
    { status: 'failed', from: first.from, first: { after: null }, seen: 2, missed: 0 },
    'after a cursor that is refused the list is read from its start',
  )
  const rest = await runScheduled()
  t.match(rest, {
    ...{ status: 'finished', from: first.from, to: first.to, first: { after: '1000' }, seconds: 0 },
    missedIds: ['evt_1000', 'evt_1499'],
  })
  pages = 1
  const next = await runScheduled()
  t.match(next, { status: 'finished', first: { after: null } })
  t.equal(Date.parse(next.from ?? ''), Date.parse(rest.to ?? '') - 3_600_000)
  t.equal(await world.countEvents(), 4)
})

t.test('what was missing is measured', async (t) => {
  const world = await open(t, listOf([eventOf('a'), eventOf('b')]))
  const { registry, billing } = createMetrics()
  const measure = async (name: string) => {
    await measureReconciliation(world.systemDb, billing)
    return registry.getSingleMetricAsString(name)
  }
  t.match(await measure('gatehouse_billing_missed_events'), /_events 0$/)
  t.match(await measure('gatehouse_billing_reconciled_age_seconds'), /_seconds 0$/, 'never')
  await world.run({ dryRun: true })
  t.match(await measure('gatehouse_billing_missed_events'), /_events 0$/)
  await world.run({})
  t.match(await measure('gatehouse_billing_missed_events'), /_events 2$/)
  await world.database.admin.query('UPDATE billing_reconciliations SET scheduled = true')
  t.match(await measure('gatehouse_billing_reconciled_age_seconds'), /_seconds [6-9]\d\d/)
})

async function open(t: Test, api: EventListApi | null) {
  const database = await createDatabase(t)
  const { systemDb } = openAsWorker(t, database)
  const web = openSystemDatabase(database.url, 1, patient)
  const queue = openQueue(database.workerUrl, 'worker', () => {})
  await queue.start()
  t.teardown(async () => {
    await queue.stop({ graceful: false })
    await web.close()
  })
  const begin = async (request: Parameters<typeof createReconciliation>[2]) => {
    const created = await web.transaction({ statementTimeoutMs: 5_000 }, (connection) =>
      createReconciliation(connection, queue, request),
    )
    return created.id
  }
  return {
    database,
    systemDb,
    queue,
    begin,
    api: api ?? { listEvents: async () => ({ items: [], next: null }) },
    async run(request: Parameters<typeof createReconciliation>[2]) {
      const id = await begin(request)
      await reconcile(systemDb, signed, api, id)
      return findReconciliation(web, id)
    },
    async countEvents() {
      const { rows } = await database.admin.query<{ events: number }>(
        'SELECT count(*)::int AS events FROM received_events',
      )
      return rows[0]?.events
    },
    /** A database whose connection goes away at the nth transaction. */
    failingAt(transaction: number): typeof systemDb {
      let begun = 0
      return {
        ...systemDb,
        transaction(limits, work) {
          begun += 1
          if (begun === transaction) throw new Error('the connection is gone')
          return systemDb.transaction(limits, work)
        },
      }
    },
  }
}

/** The sample billing API with charges of twenty minutes ago, of which no webhook arrived. */
async function openSample(t: Test, events: number) {
  const api = await startBillingApi(key)
  t.teardown(() => api.stop())
  for (let n = 0; n < events; n += 1) {
    api.list(eventOf(`evt_${n}`, { created: minutesAgo(20) }))
  }
  return { api, world: await open(t, createProviderApi({ url: api.url, key })) }
}

function listOf(items: readonly unknown[]): EventListApi {
  return { listEvents: async () => ({ items, next: null }) }
}

function circle(cursors: readonly string[]): EventListApi {
  return {
    async listEvents({ after }) {
      const next = cursors[(cursors.indexOf(after ?? '') + 1) % cursors.length] ?? null
      return { items: [], next }
    },
  }
}

function endless(): EventListApi {
  return {
    listEvents: async ({ after }) => ({ items: [], next: String(Number(after ?? 0) + 1) }),
  }
}

/** The client of the API, whose provider gives this answer. */
function answering(status: number, body: object): EventListApi {
  const fetch = async () => new Response(JSON.stringify(body), { status })
  return createProviderApi({ url: 'http://127.0.0.1:9', key, fetch })
}

async function untilFinished({ admin }: TestDatabase, scheduled: boolean) {
  const find = async () =>
    (
      await admin.query(
        `SELECT * FROM billing_reconciliations WHERE scheduled = $1 AND status <> 'running'`,
        [scheduled],
      )
    ).rows[0]
  await untilTrue(async () => (await find()) !== undefined)
  return find()
}
