import { setTimeout as pause } from 'node:timers/promises'
import type { PgBoss } from 'pg-boss'
import t, { type Test } from 'tap'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { startDueJobs } from '#src/queue/due-jobs.ts'
import { lookAtJobs } from '#src/queue/job-table.ts'
import { addJob } from '#src/queue/jobs.ts'
import { heartbeatMs } from '#src/queue/queue.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { patient } from '#test/support/database/open.ts'
import { startQueue } from '#test/support/processes/running-worker.ts'

const silent = { info() {}, warn() {}, error() {} }

async function setUp(t: Test, listens: boolean) {
  const database = await createDatabase(t)
  const queue = await startQueue(t, database, 'worker')
  const counted = countLooks(queue)
  const due = await startDueJobs({ queue: counted, listens, logger: silent })
  t.teardown(() => due.stop())
  const systemDb = openSystemDatabase(database.workerUrl, 2, patient)
  t.teardown(() => systemDb.close())
  return { database, queue, due, systemDb, looks: counted.looks }
}

/** The same queue, and how many looks it has answered. */
function countLooks(queue: PgBoss) {
  let answered = 0
  const waiting: { count: number; resolve(): void }[] = []
  const db = queue.getDb()
  const executeSql: typeof db.executeSql = async (text, values) => {
    const result = await db.executeSql(text, values)
    answered += 1
    for (const { count, resolve } of waiting) if (answered >= count) resolve()
    return result
  }
  return {
    getDb: () => ({ ...db, ...(db.listen && { listen: db.listen.bind(db) }), executeSql }),
    work: queue.work.bind(queue) as typeof queue.work,
    notifyWorker: queue.notifyWorker.bind(queue),
    fail: queue.fail.bind(queue) as typeof queue.fail,
    looks: {
      count: () => answered,
      more(count: number) {
        const { promise, resolve } = Promise.withResolvers<void>()
        waiting.push({ count: answered + count, resolve })
        return promise
      },
    },
  }
}

t.test('only queues with a job that could be fetched now are due', async (t) => {
  const database = await createDatabase(t)
  const queue = await startQueue(t, database, 'worker')
  const names = ['ledger', 'billing-replay', 'revoke-grant', 'alert-mail']
  const look = (watched = names) => lookAtJobs(queue, watched, 5_000)
  const nothing = { due: [], nextMs: null, isActive: false, lapsed: [] }
  t.strictSame(await look(), nothing)
  await queue.send('billing-replay', {}, { startAfter: 3_600 })
  const later = await look()
  t.match(later, { ...nothing, nextMs: Number })
  t.ok(Number(later.nextMs) > 3_500_000 && Number(later.nextMs) <= 3_600_000)
  t.strictSame(await look(['alert-mail']), nothing, 'only those that are asked for')
  await queue.send('revoke-grant', {})
  await queue.fetch('revoke-grant', {})
  t.strictSame(await look(['alert-mail']), { ...nothing, isActive: true }, 'in progress anywhere')
  t.equal((await lookAtJobs(queue, names, null)).isActive, false, 'unless not looked at')
  await queue.send('ledger', {})
  t.strictSame(
    await look(),
    { ...nothing, due: ['ledger'], isActive: true },
    'neither for later nor in progress',
  )
  await queue.fetch('ledger', {})
  t.strictSame((await look()).due, [])
})

for (const listens of [true, false]) {
  const how = listens ? 'with LISTEN' : 'without LISTEN'
  t.test(`a handler gets jobs that are added and jobs that become due, ${how}`, async (t) => {
    const { queue, due, systemDb } = await setUp(t, listens)
    const worked: string[] = []
    const both = Promise.withResolvers<void>()
    await due.work('billing-replay', {}, async (jobs) => {
      worked.push(...jobs.map(({ data }) => data.replayId))
      if (worked.length === 2) both.resolve()
    })
    const unrelated: string[] = []
    due.watch('ledger', () => unrelated.push('ledger'))
    await addJob(queue, systemDb, 'billing-replay', { replayId: 'later' }, { startAfter: 3 })
    await addJob(queue, systemDb, 'billing-replay', { replayId: 'now' })
    await both.promise
    t.same(worked, ['now', 'later'])
    t.same(unrelated, [], 'a queue without a job that is due is left alone')
  })
}

t.test('a notification wakes the consumers of its queue, with its detail', async (t) => {
  const { due, systemDb } = await setUp(t, true)
  const woken = new Promise((resolve) => due.watch('endpoint-turn', resolve))
  systemDb.notify('gatehouse_jobs', 'endpoint-turn a-tenant')
  t.equal(await woken, 'a-tenant')
})

t.test('a notification without a detail does not say that some were lost', async (t) => {
  const { due, systemDb } = await setUp(t, true)
  const details: unknown[] = []
  const woken = new Promise<void>((resolve) =>
    due.watch('endpoint-turn', (detail) => {
      details.push(detail)
      resolve()
    }),
  )
  systemDb.notify('gatehouse_jobs', 'endpoint-turn')
  await woken
  t.strictSame(details, [undefined])
})

t.test(
  'a notification that arrives before LISTEN has been answered wakes as any other',
  async (t) => {
    const database = await createDatabase(t)
    const queue = await startQueue(t, database, 'worker')
    const counted = countLooks(queue)
    const due = await startDueJobs({
      queue: {
        ...counted,
        getDb: () => ({
          ...counted.getDb(),
          async listen(_channel: string, onNotify: (payload: string) => void) {
            onNotify('ledger')
            return { close: async () => {} }
          },
        }),
      },
      listens: true,
      logger: { ...silent, warn: (facts: object) => t.fail(JSON.stringify(facts)) },
    })
    t.teardown(() => due.stop())
    await counted.looks.more(1)
    t.pass('it looks')
  },
)

t.test('after a look that took long no job is taken over, whatever it looked at', async (t) => {
  const failed: unknown[] = []
  let isSlow = false
  let lapsedSeen = 0
  const { promise: looked, resolve } = Promise.withResolvers<void>()
  const look = { due: [], nextMs: null, isActive: true }
  const due = await startDueJobs({
    queue: {
      getDb: () => ({
        async executeSql(_text: string, [, , , lapseMs]: unknown[] = []) {
          if (lapsedSeen > 0) resolve()
          if (lapseMs === null && !isSlow) {
            isSlow = true
            await pause(heartbeatMs + 100) // the server answers nobody, so heartbeats wait too
          }
          // Jobs in progress are not looked at each time; after the slow look their heartbeats are old.
          const isLapsed = isSlow && lapseMs !== null
          if (isLapsed) lapsedSeen += 1
          const lapsed = isLapsed ? [{ name: 'ledger', id: '1', retryCount: 0 }] : []
          return { rows: [{ ...look, lapsed }] }
        },
      }),
      work: async () => '',
      notifyWorker() {},
      fail: async (...claim: unknown[]) => failed.push(claim),
    } as never,
    listens: false,
    logger: silent,
  })
  t.teardown(() => due.stop())
  // The timers of the looks do not keep the process.
  const alive = setInterval(() => {}, 1_000)
  t.teardown(() => clearInterval(alive))
  await looked
  t.strictSame([isSlow, failed], [true, []])
})

t.test('a notification of a transaction is sent once it is committed', async (t) => {
  const { due, queue, systemDb } = await setUp(t, true)
  const woken: unknown[] = []
  const second = Promise.withResolvers<void>()
  due.watch('ledger', () => woken.push('ledger'))
  due.watch('alert-mail', () => second.resolve())
  const limits = { statementTimeoutMs: 5_000 }
  const refused = systemDb.transaction(limits, async (connection) => {
    await addJob(queue, connection, 'ledger', {})
    throw new Error('rolled back')
  })
  await t.rejects(refused, { message: 'rolled back' })
  await systemDb.transaction(limits, (connection) =>
    addJob(queue, connection, 'alert-mail', { tenantId: '', notificationId: 1 }),
  )
  await second.promise
  t.same(woken, [])
})

t.test('a job whose notification was lost is found', async (t) => {
  const { queue, due, looks } = await setUp(t, true)
  await looks.more(2)
  const woken = new Promise<void>((resolve) => due.watch('ledger', () => resolve()))
  await queue.send('ledger', {}) // announces nothing
  await woken
  t.pass('it is done')
})

t.test('a question that fails is asked again', async (t) => {
  const database = await createDatabase(t)
  const queue = await startQueue(t, database, 'worker')
  const warnings: string[] = []
  const due = await startDueJobs({
    queue: {
      ...countLooks(queue),
      getDb: () =>
        warnings.length === 0
          ? { executeSql: () => Promise.reject(new Error('the database is down')) }
          : queue.getDb(),
    },
    listens: false,
    logger: { ...silent, warn: (_facts: object, message: string) => void warnings.push(message) },
  })
  t.teardown(() => due.stop())
  await queue.send('ledger', {})
  await new Promise<void>((resolve) => due.watch('ledger', () => resolve()))
  t.same(warnings, ['due jobs could not be looked up'])
})
