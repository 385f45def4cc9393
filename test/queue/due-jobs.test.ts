import t from 'tap'
import { startDueJobs } from '#src/queue/due-jobs.ts'
import { findDueQueues } from '#src/queue/job-table.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { startQueue } from '#test/support/processes/running-worker.ts'

const silent = { info() {}, warn() {}, error() {} }

t.test('only queues with a job that could be fetched now are due', async (t) => {
  const database = await createDatabase(t)
  const queue = await startQueue(t, database, 'worker')
  const names = ['ledger', 'billing-replay', 'revoke-grant', 'alert-mail']
  t.same(await findDueQueues(queue, names), [])
  await queue.send('ledger', {})
  await queue.send('billing-replay', {}, { startAfter: 3_600 })
  await queue.send('revoke-grant', {})
  await queue.fetch('revoke-grant', {})
  t.same(await findDueQueues(queue, names), ['ledger'], 'neither for later nor in progress')
  t.same(await findDueQueues(queue, ['alert-mail']), [], 'only those that are asked for')
  await queue.fetch('ledger', {})
  t.same(await findDueQueues(queue, names), [])
})

t.test('a handler gets jobs that are added and jobs that become due', async (t) => {
  const database = await createDatabase(t)
  const queue = await startQueue(t, database, 'worker')
  const due = startDueJobs(queue, silent)
  t.teardown(() => due.stop())
  const worked: string[] = []
  const both = Promise.withResolvers<void>()
  await due.work('billing-replay', {}, async (jobs) => {
    worked.push(...jobs.map(({ data }) => data.replayId))
    if (worked.length === 2) both.resolve()
  })
  const unrelated: string[] = []
  due.watch('ledger', () => unrelated.push('ledger'))
  await queue.send('billing-replay', { replayId: 'later' }, { startAfter: 1 })
  await queue.send('billing-replay', { replayId: 'now' })
  await both.promise
  t.same(worked, ['now', 'later'])
  t.same(unrelated, [], 'a queue without a job that is due is left alone')
})

t.test('a question that fails is asked again', async (t) => {
  const database = await createDatabase(t)
  const queue = await startQueue(t, database, 'worker')
  const warnings: string[] = []
  const due = startDueJobs(
    {
      ...queue,
      getDb: () =>
        warnings.length === 0
          ? { executeSql: () => Promise.reject(new Error('the database is down')) }
          : queue.getDb(),
    } as typeof queue,
    { ...silent, warn: (_facts: object, message: string) => void warnings.push(message) },
  )
  t.teardown(() => due.stop())
  await queue.send('ledger', {})
  await new Promise<void>((resolve) => due.watch('ledger', resolve))
  t.same(warnings, ['due jobs could not be looked up'])
})
