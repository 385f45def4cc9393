import t, { type Test } from 'tap'
import { urlsOf } from '#dev/testing/logins.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import {
  adoptInstallation,
  findQuarantine,
  quarantineInstallation,
} from '#src/operations/installation.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { patient } from '#test/support/database/open.ts'
import { onCluster, query } from '#test/support/database/raw-sql.ts'

const record = { record: true }

function openAsWorker(t: Test, workerUrl: string) {
  const systemDb = openSystemDatabase(workerUrl, 1, patient)
  t.teardown(() => systemDb.close())
  return systemDb
}

/** A copy of the database as `CREATE DATABASE … TEMPLATE` makes it; its worker's URL. */
async function copy(t: Test, { url }: TestDatabase): Promise<string> {
  const name = new URL(url).pathname.slice(1)
  await onCluster(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
  await onCluster(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = '${name}'`)
  await onCluster(`CREATE DATABASE ${name}_copy TEMPLATE ${name} STRATEGY FILE_COPY`)
  await onCluster(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`)
  t.teardown(() => onCluster(`DROP DATABASE ${name}_copy WITH (FORCE)`))
  return urlsOf(process.env.TEST_POSTGRES_URL ?? '', `${name}_copy`).workerUrl
}

t.test('a copy of the database is in quarantine until it is adopted', async (t) => {
  const original = await createDatabase(t)
  const first = openAsWorker(t, original.workerUrl)
  t.equal(await findQuarantine(first, record), null)
  t.equal(await findQuarantine(first, record), null, 'a restart changes nothing')

  const workerUrl = await copy(t, original)
  const second = openAsWorker(t, workerUrl)
  t.match(await findQuarantine(second, { record: false }), { reason: 'copied' }, 'as doctor asks')
  const found = await findQuarantine(second, record)
  t.match(found, { reason: 'copied', since: Date })
  t.strictSame(await findQuarantine(second, record), found, 'since the first look')
  t.equal(await findQuarantine(openAsWorker(t, original.workerUrl), record), null, 'the original')

  await adoptInstallation(second)
  t.equal(await findQuarantine(second, record), null)
})

t.test('a quarantine begun by hand ends by hand', async (t) => {
  const database = await createDatabase(t)
  const systemDb = openAsWorker(t, database.workerUrl)
  await quarantineInstallation(systemDb)
  const found = await findQuarantine(systemDb, record)
  t.match(found, { reason: 'by-hand' })
  await quarantineInstallation(systemDb)
  t.strictSame(await findQuarantine(systemDb, record), found, 'once is enough')
  await adoptInstallation(systemDb)
  t.equal(await findQuarantine(systemDb, record), null)
})

t.test('asking without record writes nothing', async (t) => {
  const database = await createDatabase(t)
  const systemDb = openAsWorker(t, database.workerUrl)
  t.equal(await findQuarantine(systemDb, { record: false }), null)
  t.equal((await database.admin.query('SELECT FROM installation')).rowCount, 0)
})

t.test('workers that start at once note one place', async (t) => {
  const database = await createDatabase(t)
  const all = Array.from({ length: 4 }, () => openAsWorker(t, database.workerUrl))
  const found = await Promise.all(all.map((systemDb) => findQuarantine(systemDb, record)))
  t.strictSame(found, [null, null, null, null])
})

t.test('the web role can neither look it up nor change it', async (t) => {
  const { url } = await createDatabase(t)
  for (const statement of [
    'SELECT installation_state(true)',
    'SELECT adopt_installation()',
    'SELECT quarantine_installation()',
    'SELECT installation_place()',
    'SELECT FROM installation',
  ]) {
    await t.rejects(query(url, statement), { code: '42501' }, statement)
  }
})
