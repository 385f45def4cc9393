import t, { type Test } from 'tap'
import {
  createReplay,
  findReplay,
  findUnreplayable,
  type ReplaySelection,
  workReplayPage,
} from '#src/billing/replays.ts'
import { purgeBodies } from '#src/billing/retention.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { openQueue } from '#src/queue/queue.ts'
import { createDatabase, type TestDatabase } from '#test/support/helper.ts'
import { openAsWorker, receive } from './received.ts'

t.test(
  'a replay processes the selected events in order of arrival, page by page, and shows its progress',
  async (t) => {
    const { database, web, queue, create } = await open(t)
    const { systemDb } = openAsWorker(t, database)
    for (let n = 0; n < 5; n++) {
      await receive(database, { id: `dead_${n}`, status: 'dead', receivedAt: at(n) })
    }
    await receive(database, { id: 'fine', status: 'processed', receivedAt: at(2) })
    const replay = await create({ status: 'dead', from: at(1), to: at(4) })
    t.match(replay, { total: 3, succeeded: 0, failed: 0, finishedAt: null })

    const ran: string[] = []
    const run = async (eventId: string) => {
      ran.push(eventId)
      return eventId !== 'dead_2'
    }
    await workReplayPage(systemDb, queue, replay.id, run, 2)
    t.strictSame(ran, ['dead_1', 'dead_2'])
    t.match(await findReplay(web, replay.id), { succeeded: 1, failed: 1, finishedAt: null })
    t.equal(await jobsOf(database, replay.id), 2, 'the first page and the next')
    await workReplayPage(systemDb, queue, replay.id, run, 2)
    t.strictSame(ran.slice(2), ['dead_3'])
    t.match(await findReplay(web, replay.id), { succeeded: 2, failed: 1, finishedAt: /Z$/ })
    await workReplayPage(systemDb, queue, replay.id, run, 2)
    t.equal(ran.length, 3, 'a page that is processed twice does nothing')
    t.equal(await jobsOf(database, replay.id), 2, 'no page follows the last')
  },
)

t.test('a page that is processed twice at once counts once', async (t) => {
  const { database, web, queue, create } = await open(t)
  const { systemDb } = openAsWorker(t, database)
  for (const id of ['a', 'b', 'c']) await receive(database, { id, status: 'dead' })
  const replay = await create({ status: 'dead' })
  let waiting = 0
  let release = () => {}
  const together = new Promise<void>((resolve) => {
    release = resolve
  })
  const run = async () => {
    waiting += 1
    if (waiting === 4) release()
    await together
    return true
  }
  await Promise.all([1, 2].map(() => workReplayPage(systemDb, queue, replay.id, run, 2)))
  t.match(await findReplay(web, replay.id), { succeeded: 2, failed: 0 })
  t.equal(await jobsOf(database, replay.id), 2)
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
    t.equal(await jobsOf(database, replay.id), 0)
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

t.test('no role can change a received body, only delete it', async (t) => {
  const { database } = await open(t)
  await receive(database, { id: 'a' })
  const { systemDb } = openAsWorker(t, database)
  const forge = `UPDATE received_events SET body = 'x'`
  await t.rejects(systemDb.query({ text: forge }), { code: '42501' })
  await t.rejects(database.admin.query(forge), { code: '42501' })
  await systemDb.query({ text: 'UPDATE received_events SET body = NULL' })
})

async function open(t: Test) {
  const database = await createDatabase(t)
  const web = openSystemDatabase(database.url, 2)
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
  return { database, web, queue, create }
}

async function jobsOf(database: TestDatabase, replayId: string): Promise<number> {
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
