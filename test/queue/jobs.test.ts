import t from 'tap'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { addJob } from '#src/queue/jobs.ts'
import { openQueue } from '#src/queue/queue.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { patient } from '#test/support/database/open.ts'

t.test('a job exists once its transaction is committed', async (t) => {
  const database = await createDatabase(t)
  const systemDb = openSystemDatabase(database.url, 1, patient)
  const queue = openQueue(database.url, 'web', (error) => t.error(error))
  await queue.start()
  t.teardown(() => Promise.all([systemDb.close(), queue.stop({ graceful: false })]))
  const add = (fail: boolean) =>
    systemDb.transaction({ statementTimeoutMs: 1_000 }, async (connection) => {
      await addJob(queue, connection, 'revoke-grant', { revocationId: '7' })
      if (fail) throw new Error('the change failed')
    })
  const jobs = async () =>
    (await database.admin.query('SELECT name, data, retry_limit FROM pgboss.job')).rows
  await t.rejects(add(true), /the change failed/)
  t.strictSame(await jobs(), [])
  await add(false)
  t.strictSame(await jobs(), [
    { name: 'revoke-grant', data: { revocationId: '7' }, retry_limit: 22 },
  ])
})
