import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { openDatabase } from '#src/db/database.ts'
import { openQueue, queueSchema } from '#src/queue/queue.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { migrate } from '#src/schema/migrate.ts'
import { type Migration, readMigrations } from '#src/schema/migrations/applied.ts'
import { verifyDatabase } from '#src/schema/verification/verify.ts'
import { createTestPost } from '#test/support/callers/objects.ts'
import { createOwnedDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { patient } from '#test/support/database/open.ts'
import { allowScopes } from '#test/support/database/scope.ts'
import { until } from '#test/support/database/until.ts'

const next = '29990101000000_next'
const readPauseMs = 20
const waiting = `SELECT FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%ALTER TABLE%'`

/** Migrates the database to a release with additional migrations. */
async function migrateTo(database: TestDatabase, ...more: Migration[]) {
  return migrate(database, { migrations: [...(await readMigrations()), ...more] })
}

/** A transaction that holds a read lock on `orders` until `end`. */
async function holdOrders({ admin }: TestDatabase) {
  const holder = await admin.connect()
  await holder.query('BEGIN; SELECT FROM orders')
  return {
    async end() {
      await holder.query('COMMIT')
      holder.release()
    },
  }
}

t.test(
  'behind a long transaction a migration gives up, and requests continue meanwhile',
  async (t) => {
    const database = await createOwnedDatabase(t)
    const user = await createUser(database)
    const db = openDatabase(database.url, 2, patient)
    const asOwner = (await allowScopes(database))(user)
    t.teardown(() => db.close())
    const holder = await holdOrders(database)
    const sql = 'CREATE TABLE never (); ALTER TABLE orders ADD COLUMN reference text'
    const given = { done: false }
    const failing = migrateTo(database, { name: next, sql })
      .catch((error: unknown) => error)
      .finally(() => {
        given.done = true
      })
    let reads = 0
    while (!given.done) {
      t.strictSame(await db.read(asOwner, (tx) => tx.sql`SELECT id FROM orders`), [])
      reads += 1
      await wait(readPauseMs)
    }
    t.ok(reads > 1)
    const error = await failing
    t.match(error, {
      message: new RegExp(`${next} was rolled back\\. Another transaction held`),
      remedy: /pg_stat_activity/,
    })
    t.ok(error instanceof OperatorError)
    const { rows } = await database.admin.query(`SELECT to_regclass('never') AS never`)
    t.strictSame(rows, [{ never: null }])
    await database.admin.query('DROP FUNCTION enter_test')
    t.strictSame(await verifyDatabase(database.url, 'web'), [], 'the previous release still runs')
    await holder.end()
    t.strictSame((await migrateTo(database, { name: next, sql })).applied, [next])
  },
)

t.test('a migration succeeds if the lock is released between two tries', async (t) => {
  const database = await createOwnedDatabase(t)
  const holder = await holdOrders(database)
  const sql = 'ALTER TABLE orders ADD COLUMN reference text'
  const migrated = migrateTo(database, { name: next, sql })
  await until(database, waiting)
  await until(database, `SELECT WHERE NOT EXISTS (${waiting})`)
  await holder.end()
  t.strictSame((await migrated).applied, [next])
})

t.test(
  'an index is built concurrently by one of two processes, and an invalid one is rebuilt',
  async (t) => {
    const database = await createOwnedDatabase(t)
    const { tenantId } = await createUser(database)
    const sql = '-- Alone in its file.\nCREATE UNIQUE INDEX CONCURRENTLY title ON posts (title);'
    const index = { name: next, sql }
    await createTestPost(database, tenantId)
    const copy = await createTestPost(database, tenantId)
    await t.rejects(migrateTo(database, index), {
      message: /failed.*could not create unique index/s,
    })
    const state = `SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass('title')`
    t.strictSame((await database.admin.query(state)).rows, [{ valid: false }])
    await database.admin.query('DELETE FROM posts WHERE id = $1', [copy])
    const both = await Promise.all([migrateTo(database, index), migrateTo(database, index)])
    t.strictSame(
      both.flatMap(({ applied }) => applied),
      [next],
    )
    t.strictSame((await database.admin.query(state)).rows, [{ valid: true }])
  },
)

t.test('a release runs on the schema of a newer one', async (t) => {
  const database = await createOwnedDatabase(t)
  const expand = {
    name: next,
    sql: `CREATE TABLE badges (tenant_id uuid NOT NULL, id bigint);
      INSERT INTO badges VALUES (gen_random_uuid(), 1);
      GRANT SELECT ON badges TO test_app`,
  }
  const seesBadges = `SELECT has_table_privilege('test_app', 'badges', 'SELECT') AS sees`

  await migrateTo(database, expand)
  await database.admin.query(expand.sql.slice(expand.sql.indexOf('GRANT'))) // as the newer one does
  t.strictSame(
    await verifyDatabase(database.url, 'web'),
    [],
    'starts without access to the new table',
  )
  t.strictSame(await verifyDatabase(database.workerUrl, 'worker'), [])
  await database.admin.query('ALTER TABLE posts NO FORCE ROW LEVEL SECURITY')
  t.match(await verifyDatabase(database.url, 'web'), [{ problem: /posts is not forced/ }], 'own')
  await database.admin.query('ALTER TABLE posts FORCE ROW LEVEL SECURITY')

  const report = { applied: [], defined: false, createdRoles: [], ahead: [next] }
  t.strictSame(await migrateTo(database), report, 'its migrate changes nothing')
  t.strictSame((await database.admin.query(seesBadges)).rows, [{ sees: true }])
  const lacking = { name: '29990102000000_other', sql: 'SELECT 1' }
  await t.rejects(migrateTo(database, lacking), { message: /does not know .*next.*lacks .*other/ })

  await database.admin.query('DELETE FROM _prisma_migrations WHERE migration_name = $1', [next])
  t.match(await verifyDatabase(database.url, 'web'), [{ problem: /badges/ }], 'an unknown table')
})

t.test('the queue starts on its own schema and on a newer one', async (t) => {
  const { admin, url, workerUrl } = await createOwnedDatabase(t)
  t.strictSame((await admin.query('SELECT version FROM pgboss.version')).rows, [
    { version: queueSchema },
  ])
  const start = async (connection: string, duty: 'web' | 'worker') => {
    const queue = openQueue(connection, duty, t.fail)
    await queue.start().finally(() => queue.stop({ graceful: false }))
  }
  await admin.query('UPDATE pgboss.version SET version = version + 1')
  await start(url, 'web')
  await start(workerUrl, 'worker')
  await admin.query('UPDATE pgboss.version SET version = version - 2')
  await t.rejects(start(url, 'web'), /requires migrations/)
})
