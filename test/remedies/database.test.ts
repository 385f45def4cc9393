import t from 'tap'
import { migrate } from '#src/schema/migrate.ts'
import { type Migration, readMigrations } from '#src/schema/migrations/applied.ts'
import { verifyDatabase } from '#src/schema/verification/verify.ts'
import { production } from '#test/support/app/production.ts'
import { createOwnedDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { createDatabaseWithRole } from '#test/support/database/own-role.ts'
import { startProxy } from '#test/support/database/postgres-proxy.ts'
import { runProgram } from '#test/support/processes/program.ts'

/* Faults of a database whose remedy is not `migrate` alone: after the remedy the fault is gone. */

const applied = { name: '29990101000000_applied', sql: 'CREATE TABLE parted (id bigint)' }
const own = { name: '29990102000000_own', sql: 'SELECT 1' }

async function migrateTo(database: TestDatabase, ...more: Migration[]) {
  return migrate(database, { migrations: [...(await readMigrations()), ...more] })
}

t.test('a database and files that have parted', async (t) => {
  const database = await createOwnedDatabase(t)
  await migrateTo(database, applied)
  const fault = {
    message: /does not know \(29990101000000_applied\), and lacks .* \(29990102000000_own\)/,
    remedy:
      /^Use an empty database \(for the demo, delete the folder \.data\), or bring the deleted/,
  }
  await t.rejects(migrateTo(database, own), fault)

  await t.test('the files that were deleted are brought back', async (t) => {
    t.match(await migrateTo(database, applied, own), { applied: [own.name], ahead: [] })
  })
  await t.test('an empty database is used', async (t) => {
    const empty = await createOwnedDatabase(t)
    t.match(await migrateTo(empty, own), { applied: [own.name], ahead: [] })
  })
})

t.test('the verification names the same fault and remedy as migrate', async (t) => {
  const database = await createOwnedDatabase(t)
  await migrateTo(database, applied)
  await database.admin.query(
    `UPDATE _prisma_migrations SET rolled_back_at = now() WHERE migration_name =
       (SELECT min(migration_name) FROM _prisma_migrations)`,
  )
  const error = await migrate(database).then(
    () => null,
    ({ message, remedy }) => ({ problem: message, remedy }),
  )
  t.strictSame(await verifyDatabase(database.url, 'web'), [error])
  t.match(error, { remedy: /^Use an empty database/ })
})

t.test('statements that a remedy prints are carried out to the letter', async (t) => {
  const faults: readonly [
    sql: string,
    problem: RegExp,
    statement: RegExp,
    as: 'owner' | 'admin',
  ][] = [
    [
      'ALTER FUNCTION ticket_hash(bytea) OWNER TO postgres',
      /ticket_hash.* owner postgres instead of test_owner/,
      /^As a superuser: (ALTER .*;)$/,
      'admin',
    ],
    [
      'ALTER FUNCTION touch_session(bytea) OWNER TO postgres',
      /touch_session\(bytea\) does not belong to the owner of the tables/,
      /^As a superuser: (ALTER .*;)$/,
      'admin',
    ],
    [
      `SET ROLE test_owner; CREATE FUNCTION peek() RETURNS bigint LANGUAGE sql SECURITY DEFINER
         RETURN (SELECT count(*) FROM posts); RESET ROLE`,
      /as another role through peek\(\)/,
      /^No release made it\. As its owner: (REVOKE .*;)$/,
      'owner',
    ],
    [
      'CREATE TABLE notes (tenant_id uuid NOT NULL)',
      /notes is not under row-level/,
      /Drop it/,
      'admin',
    ],
    [
      'CREATE MATERIALIZED VIEW ones AS SELECT 1 AS one',
      /materialized view ones/,
      /: drop it/,
      'admin',
    ],
    [
      'CREATE VIEW all_posts AS SELECT * FROM posts',
      /all_posts is not security_invoker/,
      /: drop it/,
      'admin',
    ],
  ]
  const dropped: Readonly<Record<string, string>> = {
    notes: 'DROP TABLE notes',
    ones: 'DROP MATERIALIZED VIEW ones',
    all_posts: 'DROP VIEW all_posts',
  }
  const database = await createOwnedDatabase(t)
  for (const [sql, problem, statement, as] of faults) {
    await database.admin.query(sql)
    const [found, ...more] = await verifyDatabase(database.url, 'web')
    t.match(found, { problem, remedy: statement }, sql)
    t.strictSame(more, [], 'one fault')
    const [, printed] = statement.exec(found?.remedy ?? '') ?? []
    const script = printed ?? dropped[found?.object ?? ''] ?? ''
    await database.admin.query(
      as === 'owner' ? `SET ROLE test_owner; ${script}; RESET ROLE` : script,
    )
    t.strictSame(await verifyDatabase(database.url, 'web'), [], sql)
    await migrate(database)
  }
})

t.test('a resource whose table or column differs gets its migration', async (t) => {
  const faults: readonly [sql: string, problem: RegExp, migration: string][] = [
    [
      'ALTER TABLE documents RENAME TO kept',
      /resource document has no table documents/,
      'ALTER TABLE kept RENAME TO documents',
    ],
    [
      'ALTER TABLE documents ALTER title DROP NOT NULL',
      /title/,
      'ALTER TABLE documents ALTER title SET NOT NULL',
    ],
  ]
  for (const [sql, problem, migration] of faults) {
    const database = await createOwnedDatabase(t)
    await database.admin.query(sql)
    t.match(await verifyDatabase(database.url, 'web', 'catalogue'), [
      { problem, remedy: /^Run `gatehouse migrate dev` in .*, then `gatehouse migrate` with/ },
    ])
    await migrateTo(database, { name: '29990101000000_mended', sql: migration })
    t.strictSame(await verifyDatabase(database.url, 'web'), [], sql)
  }
})

t.test('one role for both the owner and the application: another role is named', async (t) => {
  const database = await createOwnedDatabase(t)
  await t.rejects(migrate({ ...database, url: database.ownerUrl }), {
    message: /both log in as/,
    remedy: /^Use another role in DATABASE_URL; migrate creates it\./,
  })
  t.match(await migrate(database), { applied: [] })
})

t.test('a role with a flaw: another role is named, and migrate makes it', async (t) => {
  for (const flaw of ['BYPASSRLS', 'CREATEROLE']) {
    const database = await createDatabaseWithRole(t)
    await database.admin.query(
      `ALTER ROLE ${database.roleName} ${flaw};
       ALTER DATABASE ${new URL(database.url).pathname.slice(1)} OWNER TO test_owner`,
    )
    t.match(await verifyDatabase(database.url, 'web'), [
      { remedy: /^Name another role in the connection URL and run `gatehouse migrate`/ },
    ])
    const another = new URL(database.url)
    another.username = `${database.roleName}_bypass`
    const { createdRoles } = await migrate({ ...database, url: another.href })
    t.strictSame(createdRoles, [another.username])
    t.strictSame(await verifyDatabase(another.href, 'web'), [], flaw)
  }
})

t.test('a setting that closes the database is taken back where it was set', async (t) => {
  const database = await createDatabaseWithRole(t)
  const name = new URL(database.url).pathname.slice(1)
  const readOnly = ['default_transaction_read_only', 'on', /ALTER DATABASE … or ALTER SYSTEM/]
  const unseen = ['session_replication_role', 'replica', /^As a superuser, take it back where/]
  for (const [setting, value, remedy] of [readOnly, unseen]) {
    for (const place of [`DATABASE ${name}`, `ROLE ${database.roleName}`]) {
      await database.admin.query(`ALTER ${place} SET ${setting} = '${value}'`)
      t.match(await verifyDatabase(database.url, 'web'), [{ problem: `${setting}`, remedy }], place)
      await database.admin.query(`ALTER ${place} RESET ${setting}`)
      t.strictSame(await verifyDatabase(database.url, 'web'), [], place)
    }
  }
})

t.test('a transaction that holds a lock is found and ended', async (t) => {
  const database = await createOwnedDatabase(t)
  const blocked = { name: '29990101000000_blocked', sql: 'ALTER TABLE posts ADD COLUMN more text' }
  const holder = await database.admin.connect()
  holder.on('error', () => {}) // it is ended below
  t.teardown(() => holder.release(true))
  await holder.query(`SET application_name = 'holder'; BEGIN; LOCK TABLE posts IN SHARE MODE`)
  const remedy = await migrateTo(database, blocked).then(
    () => '',
    (error) => error.remedy,
  )
  const [, sql = ''] =
    /^Find it \((SELECT .*)\), end it and run migrate again\.$/.exec(remedy) ?? []
  const { rows } = await database.admin.query<{ pid: number; application_name: string }>(sql)
  const found = rows.find(({ application_name }) => application_name === 'holder')
  await database.admin.query('SELECT pg_terminate_backend($1)', [found?.pid])
  t.match(await migrateTo(database, blocked), { applied: [blocked.name] })
})

t.test('a database that is away, and queues that are missing', async (t) => {
  const database = await createOwnedDatabase(t)
  const env = { ...production(database), DATABASE_OWNER_URL: database.ownerUrl }
  const run = async (words: string[], more: Record<string, string> = {}) => {
    const program = await runProgram(t, words, { ...env, ...more })
    return { status: await program.ended, output: program.results(), told: program.messages() }
  }
  const proxy = await startProxy(t, database.workerUrl)
  const through = { DATABASE_WORKER_URL: proxy.through(database.workerUrl) }
  proxy.pause()
  t.match(await run(['ledger', 'verify'], through), {
    status: 1,
    told: /The database cannot be reached: .* Check DATABASE_URL, DATABASE_WORKER_URL/,
  })
  proxy.resume()
  t.match(await run(['ledger', 'verify'], through), { status: 0 })

  await database.admin.query(`DELETE FROM pgboss.queue WHERE name = 'billing-event'`)
  const faults = async () => {
    const { output } = await run(['doctor', '--json'])
    const found: { subject: string; faults: string[] }[] = JSON.parse(output)
    return found.find(({ subject }) => subject === 'queue')?.faults
  }
  t.strictSame(await faults(), ['Its queues are missing. Run `gatehouse migrate`.'])
  t.match(await run(['migrate']), { status: 0 })
  t.strictSame(await faults(), [])
})
