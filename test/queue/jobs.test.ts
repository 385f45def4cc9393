import t from 'tap'
import { openDatabase } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { oneStatement } from '#src/db/sql.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { addJob, unflushedIn } from '#src/queue/jobs.ts'
import { openQueue } from '#src/queue/queue.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { startQueue } from '#test/support/processes/running-worker.ts'

t.test('a job exists once its transaction is committed', async (t) => {
  const database = await createDatabase(t)
  const systemDb = openSystemDatabase(database.url, 1)
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

t.test('a fetch need not wait for the disk; what follows on its connection does', async (t) => {
  const database = await createDatabase(t)
  const name = new URL(database.url).pathname.slice(1)
  await database.admin.query(`ALTER DATABASE ${name} SET synchronous_commit = 'on'`)
  const queue = await startQueue(t, database, 'worker')
  const db = openDatabase(database.workerUrl, 1)
  t.teardown(() => db.close())
  const unflushed = unflushedIn(db)
  const id = await queue.send('revoke-grant', { revocationId: '7' })
  const fetched = await queue.fetch('revoke-grant', { batchSize: 2, db: unflushed })
  t.match(fetched, [{ id, data: { revocationId: '7' }, retryCount: 0 }])
  t.strictSame(await queue.fetch('revoke-grant', { batchSize: 2, db: unflushed }), [])
  const setting = `SELECT current_setting('synchronous_commit') AS value`
  t.strictSame((await unflushed.executeSql(setting)).rows, [{ value: 'off' }])
  const entry = {
    decidesInDatabase: true,
    statement: () => Prisma.sql`SELECT`,
    admit() {},
  } as const
  const after = oneStatement(Prisma.raw(setting), (rows) => rows)
  t.strictSame(await db.write(entry, after), [{ value: 'on' }])
})
