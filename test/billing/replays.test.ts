import t, { type Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { completeJob, eventQueue } from '#src/billing/job.ts'
import { signed } from '#src/billing/providers/signed.ts'
import {
  countReplayed,
  createReplay,
  findReplay,
  findUnreplayable,
  type ReplaySelection,
  workReplayPage,
} from '#src/billing/replays.ts'
import { purgeBodies, purgeReplays } from '#src/billing/retention.ts'
import { withoutScope } from '#src/db/entry.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { type EventJob, openQueue } from '#src/queue/queue.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { patient } from '#test/support/database/open.ts'
import { until } from '#test/support/database/until.ts'
import { startTestWorker } from '#test/support/processes/running-worker.ts'
import { charge, invoicesOf, openAsWorker, receive, stateOf } from './received.ts'

t.test(
  'a replay queues the selected events in order of arrival, page by page, and shows its progress',
  async (t) => {
    const { database, web, create, workPage, endJobs } = await open(t)
    for (let n = 0; n < 5; n++) {
      await receive(database, { id: `dead_${n}`, status: 'dead', receivedAt: at(n) })
    }
    await receive(database, { id: 'fine', status: 'processed', receivedAt: at(2) })
    const replay = await create({ status: 'dead', from: at(1), to: at(4) })
    t.match(replay, { total: 3, succeeded: 0, failed: 0, finishedAt: null })

    await workPage(replay.id, 2)
    t.strictSame(await endJobs(replay.id, 'succeeded', 1), ['dead_1'])
    t.equal(await pagesOf(database, replay.id), 1, 'the next page waits for the whole page')
    t.strictSame(await endJobs(replay.id, 'failed'), ['dead_2'])
    t.match(await findReplay(web, replay.id), { succeeded: 1, failed: 1, finishedAt: null })
    t.equal(await pagesOf(database, replay.id), 2, 'the first page and the next')
    await workPage(replay.id, 2)
    await workPage(replay.id, 2)
    t.match(await findReplay(web, replay.id), { finishedAt: null }, 'an event is in progress')
    t.strictSame(await endJobs(replay.id, 'succeeded'), ['dead_3'])
    await workPage(replay.id, 2)
    t.match(await findReplay(web, replay.id), { succeeded: 2, failed: 1, finishedAt: /Z$/ })
    await workPage(replay.id, 2)
    t.strictSame(await endJobs(replay.id, 'succeeded'), [], 'nothing follows')
  },
)

t.test('a page that is processed twice at once queues no event twice', async (t) => {
  const { database, web, create, workPage, endJobs } = await open(t)
  for (const id of ['a', 'b', 'c']) await receive(database, { id, status: 'dead' })
  const replay = await create({ status: 'dead' })
  await Promise.all([workPage(replay.id, 2), workPage(replay.id, 2)])
  t.strictSame((await endJobs(replay.id, 'succeeded')).toSorted(), ['a', 'b', 'c'])
  t.match(await findReplay(web, replay.id), { succeeded: 3, failed: 0 })
})

t.test('a worker replays events, one of an object at a time, and finishes', async (t) => {
  const { database, web, create } = await open(t)
  await createUser(database, { billingCustomer: 'cus_1' })
  for (let n = 0; n < 60; n++) {
    const object = n === 7 ? {} : { ...charge, id: `ch_${n % 3}` }
    await receive(database, { id: `evt_${n}`, status: 'dead', object })
  }
  const replay = await create({ status: 'dead' })
  const worker = await startTestWorker(t, database)
  await until(database, 'SELECT FROM billing_replays WHERE finished_at IS NOT NULL')
  await worker.stop()
  t.match(await findReplay(web, replay.id), { total: 60, succeeded: 59, failed: 1 })
  t.equal((await invoicesOf(database)).length, 59)
  t.match(await stateOf(database, 'evt_7'), { status: 'dead', last_error: /missing/ })
})

t.test(
  'events selected by id are replayed whatever their status, except those without a body',
  async (t) => {
    const { database, web, create } = await open(t)
    for (const [id, status] of [
      ['a', 'processed'],
      ['b', 'dead'],
      ['c', 'failed'],
    ] as const) {
      await receive(database, { id, status })
    }
    await database.admin.query(`UPDATE received_events SET body = NULL WHERE event_id = 'c'`)
    t.match(await create({ ids: ['a', 'b', 'c', 'none'] }), { total: 2 })
    t.equal(await findReplay(web, crypto.randomUUID()), null)
    t.same(await findUnreplayable(web, ['none', 'a', 'c', 'none', 'nor this']), {
      unknown: ['none', 'nor this'],
      withoutBody: ['c'],
    })
  },
)

t.test('a replay of no events is finished at once, without a job', async (t) => {
  const { database, web, create } = await open(t)
  for (const selection of [{ status: 'dead' }, { ids: ['none'] }] as const) {
    const replay = await create(selection)
    t.match(replay, { total: 0, finishedAt: /Z$/ })
    t.match(await findReplay(web, replay.id), { total: 0, finishedAt: /Z$/ })
    const jobs = `SELECT FROM pgboss.job WHERE data->>'replayId' = $1`
    t.equal((await database.admin.query(jobs, [replay.id])).rowCount, 0)
  }
})

t.test(
  'raw bodies are deleted after the retention, in batches; rows and event ids stay',
  async (t) => {
    const { database } = await open(t)
    const { systemDb } = openAsWorker(t, database)
    for (let n = 0; n < 7; n++) {
      await receive(database, { id: `old_${n}`, receivedAt: daysAgo(31 + n) })
    }
    await receive(database, { id: 'young', receivedAt: daysAgo(29) })
    const limits = { batchRows: 2, maxBatches: 2 }
    const first = await purgeBodies(systemDb, 30, undefined, limits)
    t.match(first, { bodies: 4, done: false })
    const second = await purgeBodies(systemDb, 30, first.since, limits)
    t.match(second, { bodies: 3, done: true })
    t.match(await purgeBodies(systemDb, 30, second.since, limits), { bodies: 0, done: true })
    const { rows } = await database.admin.query(
      'SELECT event_id FROM received_events WHERE body IS NOT NULL',
    )
    t.same(rows, [{ event_id: 'young' }])
    t.equal((await database.admin.query('SELECT FROM processed_events')).rowCount, 8)
    t.equal((await database.admin.query('SELECT FROM received_events')).rowCount, 8)
  },
)

t.test('finished replays are deleted after the retention', async (t) => {
  const { database } = await open(t)
  const { systemDb } = openAsWorker(t, database)
  await database.admin.query(
    `INSERT INTO billing_replays (id, event_ids, received_to, total, finished_at)
     SELECT gen_random_uuid(), '{}', now(), 0, now() - age
     FROM unnest(ARRAY['31 days', '29 days', NULL]::interval[]) AS age`,
  )
  t.equal(await purgeReplays(systemDb, 30), 1)
  t.equal((await database.admin.query('SELECT FROM billing_replays')).rowCount, 2)
})

t.test('no role can change a received body, only delete it', async (t) => {
  const { database } = await open(t)
  await receive(database, { id: 'a' })
  const { systemDb } = openAsWorker(t, database)
  const forge = `UPDATE received_events SET body = 'x'`
  await t.rejects(systemDb.sql({ text: forge }), { code: '42501' })
  await t.rejects(database.admin.query(forge), { code: '42501' })
  await systemDb.sql`UPDATE received_events SET body = NULL`
})

async function open(t: Test) {
  const database = await createDatabase(t)
  const web = openSystemDatabase(database.url, 2, patient)
  const queue = openQueue(database.workerUrl, 'web', () => {})
  await queue.start()
  t.teardown(async () => {
    await queue.stop({ graceful: false })
    await web.close()
  })
  const create = (selection: ReplaySelection) =>
    web.transaction({ statementTimeoutMs: 5_000 }, (connection) =>
      createReplay(connection, queue, selection),
    )
  const { db, systemDb } = openAsWorker(t, database)
  return {
    database,
    web,
    create,
    workPage: (replayId: string, events: number) =>
      workReplayPage(systemDb, queue, signed, replayId, events),
    /** Ends the jobs of events of a replay, all or the first ones; resolves to the ids of the events. */
    async endJobs(replayId: string, outcome: 'succeeded' | 'failed', batchSize = 100) {
      const jobs = await queue.fetch<EventJob>(eventQueue, { batchSize })
      for (const job of jobs) {
        await db.write(withoutScope, async (tx) => {
          await completeJob(tx, queue, job)
          await countReplayed(tx, queue, replayId, outcome)
        })
      }
      return jobs.map(({ data }) => data.eventId)
    },
  }
}

async function pagesOf(database: TestDatabase, replayId: string): Promise<number> {
  const { rowCount } = await database.admin.query(
    `SELECT FROM pgboss.job WHERE name = 'billing-replay' AND data->>'replayId' = $1`,
    [replayId],
  )
  return rowCount ?? 0
}

function at(minute: number): string {
  return `2026-11-01T00:0${minute}:00.000Z`
}

function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString()
}
