import Fastify from 'fastify'
import t from 'tap'
import health from '#routes/health.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { warningsOf, watchTransactions } from '#src/operations/open-transactions.ts'
import { version as release } from '#src/runtime/assets.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { patient } from '#test/support/database/open.ts'
import { untilTrue } from '#test/support/database/until.ts'

t.test('a transaction that stays open is seen without privileges, and named', async (t) => {
  const database = await createDatabase(t)
  const systemDb = openSystemDatabase(database.url, 1, patient)
  t.teardown(() => systemDb.close())
  let seconds = 0
  const look = watchTransactions(() => seconds * 1_000)
  const forgotten = await database.admin.connect()
  await forgotten.query('BEGIN')
  const { rows } = await forgotten.query('SELECT pg_current_xact_id()::text AS id')
  await database.admin.query('SELECT pg_current_xact_id()') // a later one, which has ended
  // Those of other databases that are older have to end first.
  const oldest = 'SELECT WHERE pg_snapshot_xmin(pg_current_snapshot())::text = $1'
  await untilTrue(async () => (await database.admin.query(oldest, [rows[0]?.id])).rowCount !== 0)
  await look(systemDb)
  seconds = 119
  t.strictSame(warningsOf(await look(systemDb)), [])
  seconds = 600
  const late = await look(systemDb)
  t.equal(late.oldestSeconds, 600)
  t.match(warningsOf(late), [/open for 600 s/])
  await forgotten.query('COMMIT')
  forgotten.release()
  t.equal((await look(systemDb)).oldestSeconds, 0)
})

t.test('rows that are dead are counted by table', async (t) => {
  const database = await createDatabase(t)
  const systemDb = openSystemDatabase(database.url, 1, patient)
  t.teardown(() => systemDb.close())
  const { deadRows } = await watchTransactions()(systemDb)
  const tables = ['deliveries', 'due_attempts', 'job_common', 'outbound_events', 'received_events']
  t.strictSame([...deadRows.keys()].toSorted(), tables)
  for (const dead of deadRows.values()) t.ok(dead >= 0)
})

t.test('a process with a warning is ready', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  let warn = async () => ['A transaction has been open for 600 s.']
  const findWarnings = () => warn()
  let find = async (): Promise<string | null> => '7.0.0'
  const findSchema = () => find()
  await app.register(health, { findFailing: async () => [], findWarnings, findSchema })
  const ask = async () => {
    const answer = await app.inject('/readyz')
    return [answer.statusCode, answer.json()]
  }
  t.strictSame(await ask(), [
    200,
    {
      ...{ status: 'ready', release, schema: '7.0.0' },
      warnings: ['A transaction has been open for 600 s.'],
    },
  ])
  warn = async () => Promise.reject(new Error('the database is away'))
  find = async () => Promise.reject(new Error('the database is away'))
  t.strictSame(await ask(), [200, { status: 'ready', release, schema: null }], 'without both')
})
