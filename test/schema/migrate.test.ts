import { randomBytes } from 'node:crypto'
import pg from 'pg'
import t, { type Test } from 'tap'
import { createOwnerAndDatabase } from '#dev/demo/demo.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { migrate } from '#src/schema/migrate.ts'
import { readMigrations } from '#src/schema/migrations/applied.ts'
import { verifyDatabase } from '#src/schema/verification/verify.ts'
import { onCluster, query } from '#test/support/database/raw-sql.ts'
import { untilTrue } from '#test/support/database/until.ts'

t.test('migrate prepares an empty database; a second run changes nothing', async (t) => {
  const urls = await createEmptyDatabase(t)
  const names = (await readMigrations()).map(({ name }) => name)
  t.strictSame(await migrate(urls), {
    applied: names,
    defined: true,
    createdRoles: [urls.app, urls.worker],
    ahead: [],
  })
  // Each role can log in with the password of its URL and has no findings.
  t.strictSame(await verifyDatabase(urls.url, 'web'), [])
  t.strictSame(await verifyDatabase(urls.workerUrl, 'worker'), [])
  const before = await describeCatalogue(urls.ownerUrl)
  t.strictSame(await migrate(urls), { applied: [], defined: false, createdRoles: [], ahead: [] })
  t.strictSame(await describeCatalogue(urls.ownerUrl), before)
})

t.test('no connection of migrate compiles plans', async (t) => {
  const urls = await createEmptyDatabase(t)
  const superuserUrl = new URL(process.env.TEST_POSTGRES_URL ?? '')
  superuserUrl.pathname = new URL(urls.url).pathname
  await query(
    superuserUrl.href,
    `CREATE SCHEMA watch;
     CREATE TABLE watch.seen (connection integer, jit text);
     CREATE FUNCTION watch.see() RETURNS event_trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
     BEGIN
       INSERT INTO watch.seen VALUES (pg_backend_pid(), current_setting('jit'));
     END $$;
     CREATE EVENT TRIGGER see ON ddl_command_end EXECUTE FUNCTION watch.see()`,
  )
  await migrate(urls)
  const seen = 'SELECT jit FROM watch.seen GROUP BY connection, jit'
  // The schema engine, the queue, and the functions, policies, triggers and privileges.
  t.strictSame(await query(superuserUrl.href, seen), [
    { jit: 'off' },
    { jit: 'off' },
    { jit: 'off' },
  ])
})

t.test('an added privilege is revoked', async (t) => {
  const urls = await createEmptyDatabase(t)
  await migrate(urls)
  const before = await describeCatalogue(urls.ownerUrl)
  await query(
    urls.ownerUrl,
    `GRANT TRUNCATE, UPDATE ON users TO ${urls.app}; GRANT UPDATE (plan) ON users TO ${urls.app};
     GRANT DELETE ON pgboss.job TO ${urls.app}; GRANT CREATE ON SCHEMA pgboss TO ${urls.app}`,
  )
  t.notSame(await describeCatalogue(urls.ownerUrl), before)
  await migrate(urls)
  t.strictSame(await describeCatalogue(urls.ownerUrl), before)
})

t.test('an existing role keeps its password', async (t) => {
  const urls = await createEmptyDatabase(t)
  await onCluster(`CREATE ROLE ${urls.app} LOGIN PASSWORD 'of old' CONNECTION LIMIT 7`)
  t.strictSame((await migrate(urls)).createdRoles, [urls.worker])
  await t.rejects(
    verifyDatabase(urls.url, 'web'),
    { code: '28P01' },
    'the password of the URL is not set',
  )
  const url = new URL(urls.url)
  url.password = 'of old'
  t.strictSame(await verifyDatabase(url.href, 'web'), [])
})

t.test('concurrent runs are serialized', async (t) => {
  const urls = await createEmptyDatabase(t)
  const reports = await Promise.all([migrate(urls), migrate(urls), migrate(urls)])
  const applied = reports.flatMap((report) => report.applied)
  t.equal(applied.length, (await readMigrations()).length, 'each migration is applied once')
  t.strictSame(
    reports.flatMap(({ createdRoles }) => createdRoles),
    [urls.app, urls.worker],
  )
  t.strictSame(await verifyDatabase(urls.url, 'web'), [])
})

t.test('a second run waits for the first', async (t) => {
  const urls = await createEmptyDatabase(t)
  const other = new pg.Client({ connectionString: urls.ownerUrl })
  await other.connect()
  t.teardown(() => other.end())
  await other.query('SELECT pg_advisory_lock(7165230418)') // the lock of src/schema/migrate.ts
  const waiting = migrate(urls)
  const asked = `SELECT FROM pg_stat_activity WHERE query LIKE 'SELECT pg_try_advisory_lock%'
    AND datname = current_database() AND state = 'idle'`
  await untilTrue(async () => (await other.query(asked)).rowCount !== 0)
  t.strictSame((await other.query(`SELECT to_regclass('users') AS users`)).rows, [{ users: null }])
  await other.query('SELECT pg_advisory_unlock(7165230418)')
  t.ok((await waiting).applied.length > 0)
})

t.test('a role for both web and worker gets the privileges of both', async (t) => {
  const urls = await createEmptyDatabase(t)
  t.strictSame((await migrate({ ...urls, workerUrl: urls.url })).createdRoles, [urls.app])
  t.strictSame(await verifyDatabase(urls.url, 'web'), [])
  const may = `SELECT has_table_privilege('posts', 'INSERT') AS web,
    has_table_privilege('invoices', 'INSERT') AS worker,
    has_table_privilege('sessions', 'TRUNCATE') AS neither`
  t.strictSame(await query(urls.url, may), [{ web: true, worker: true, neither: false }])
})

t.test('a failed migration changes nothing and can be run again', async (t) => {
  const urls = await createEmptyDatabase(t)
  const known = await readMigrations()
  await migrate(urls)
  const before = await describeCatalogue(urls.ownerUrl)
  const name = '29991231000000_half'
  const half = 'CREATE TABLE whole (); CREATE TABLE half (); '
  const failing = migrate(urls, {
    migrations: [...known, { name, sql: `${half} SELECT 1 / 0;` }],
  })
  const refusal = { message: /was rolled back: .*division by zero/s, remedy: /run migrate again/ }
  await t.rejects(failing, refusal)
  await t.rejects(failing, OperatorError)
  t.strictSame(await describeCatalogue(urls.ownerUrl), before)
  t.strictSame(await verifyDatabase(urls.url, 'web'), [], 'the previous release still runs')
  const mended = await migrate(urls, {
    migrations: [...known, { name, sql: 'CREATE TABLE whole ();' }],
  })
  t.strictSame(mended.applied, [name])
})

t.test('an owner that cannot create the missing role gets the remedy', async (t) => {
  const urls = await createEmptyDatabase(t)
  await onCluster(`ALTER ROLE ${urls.owner} NOCREATEROLE`)
  const refusal = { message: new RegExp(`${urls.app} is missing`), remedy: /CREATEROLE/ }
  await t.rejects(migrate(urls), refusal)
  await t.rejects(migrate(urls), OperatorError)
  await onCluster(`CREATE ROLE ${urls.app} LOGIN; CREATE ROLE ${urls.worker} LOGIN`)
  t.strictSame((await migrate(urls)).createdRoles, [], 'CREATEROLE is needed for nothing else')
})

t.test('an unusable owner is an error', async (t) => {
  const urls = await createEmptyDatabase(t)
  const owned = { message: /both log in as/, remedy: /another role/ }
  await t.rejects(migrate({ ...urls, url: urls.ownerUrl }), owned, 'the owner as the web role')
  await t.rejects(migrate({ ...urls, workerUrl: urls.ownerUrl }), owned, 'as the worker role')
  const nowhere = migrate({ ...urls, ownerUrl: 'postgres://owner:hidden@127.0.0.1:1/none' })
  await t.rejects(nowhere, { message: /cannot be reached.*ECONNREFUSED/, remedy: /./ })
  await nowhere.catch((error: Error) => t.notMatch(error.message, 'hidden'))
  const wrong = new URL(urls.ownerUrl)
  wrong.password = 'wrong'
  await t.rejects(migrate({ ...urls, ownerUrl: wrong.href }), OperatorError)
})

type EmptyDatabase = Awaited<ReturnType<typeof createEmptyDatabase>>

/** A database with its own owner, and names of roles that do not exist yet. */
async function createEmptyDatabase(t: Test) {
  const cluster = process.env.TEST_POSTGRES_URL ?? ''
  const name = `test_${randomBytes(6).toString('hex')}`
  const [owner, app, worker] = [`${name}_owner`, `${name}_app`, `${name}_worker`] as const
  t.teardown(async () => {
    await onCluster(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    await onCluster(`DROP ROLE IF EXISTS ${app}, ${worker}, ${owner}`)
  })
  await createOwnerAndDatabase(cluster, { name: owner, password: 'owner' }, name)
  const as = (role: string, password: string) => {
    const url = new URL(cluster)
    Object.assign(url, {
      pathname: `/${name}`,
      username: role,
      password: encodeURIComponent(password),
    })
    return url.href
  }
  return {
    ...{ owner, app, worker },
    ownerUrl: as(owner, 'owner'),
    url: as(app, `it's “quoted”`),
    workerUrl: as(worker, 'p@ss/word:%'),
  }
}

/** Every object with its owner and privileges, and every role with its attributes, as lines. */
function describeCatalogue(ownerUrl: EmptyDatabase['ownerUrl']): Promise<pg.QueryResultRow[]> {
  return query(
    ownerUrl,
    `SELECT line FROM (
      SELECT concat_ws(' ', 'table', oid::regclass, relkind, relowner::regrole, relacl,
        relrowsecurity, relforcerowsecurity) FROM pg_class
      UNION ALL SELECT concat_ws(' ', 'column', attrelid::regclass, attname, atttypid::regtype,
        attnotnull, attacl) FROM pg_attribute
      UNION ALL SELECT concat_ws(' ', 'function', oid::regprocedure, proacl, md5(prosrc)) FROM pg_proc
      UNION ALL SELECT concat_ws(' ', 'schema', nspname, nspowner::regrole, nspacl) FROM pg_namespace
      UNION ALL SELECT concat_ws(' ', 'constraint', conrelid::regclass, conname,
        pg_get_constraintdef(oid)) FROM pg_constraint
      UNION ALL SELECT concat_ws(' ', 'policy', polrelid::regclass, polname, polcmd,
        pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)) FROM pg_policy
      UNION ALL SELECT concat_ws(' ', 'role', rolname, rolsuper, rolcreaterole, rolbypassrls,
        rolconnlimit) FROM pg_roles WHERE starts_with(rolname, current_database())
      UNION ALL SELECT concat_ws(' ', 'member', roleid::regrole, member::regrole)
        FROM pg_auth_members WHERE starts_with(member::regrole::text, current_database())
      UNION ALL SELECT to_jsonb(q)::text FROM (SELECT name, policy, retry_limit, retry_delay,
        retry_backoff, expire_seconds FROM pgboss.queue) q
    ) AS lines (line) WHERE line !~ 'pg_(toast|temp)' ORDER BY line`,
  )
}
