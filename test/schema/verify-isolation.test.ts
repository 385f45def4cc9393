import pg from 'pg'
import t, { type Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { identityTables, serviceTables } from '#src/schema/tables.ts'
import { isolationRows } from '#src/schema/verification/isolation-rows.ts'
import { verifyDatabase } from '#src/schema/verification/verify.ts'
import { verifyIsolation, verifyWithoutScope } from '#src/schema/verification/verify-isolation.ts'
import { createTestInvoice } from '#test/support/callers/objects.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { createDatabaseWithRole } from '#test/support/database/own-role.ts'
import { until } from '#test/support/database/until.ts'

t.test('two test tenants see only their own rows, and leave nothing behind', async (t) => {
  const database = await createDatabase(t)
  const { tenantId } = await createUser(database)
  await createTestInvoice(database, tenantId)
  t.strictSame(await tryAs(database.url), [])
  for (const table of ['posts', 'orders', 'audit_log']) {
    t.equal((await database.admin.query(`SELECT FROM ${table}`)).rowCount, 0, table)
  }
  for (const table of ['tenants', 'users', 'memberships']) {
    t.equal((await database.admin.query(`SELECT FROM ${table}`)).rowCount, 1, table)
  }
})

t.test('the part for every minute writes nothing and finds rows without a scope', async (t) => {
  const database = await createDatabase(t)
  const { tenantId } = await createUser(database)
  await createTestInvoice(database, tenantId)
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  t.teardown(() => client.end())
  const writes = async () => {
    const { rows } = await database.admin.query(
      `SELECT relname, n_tup_ins + n_tup_upd + n_tup_del AS writes FROM pg_stat_user_tables
       WHERE schemaname = 'public' ORDER BY 1`,
    )
    const { rows: ids } = await database.admin.query(
      'SELECT sequencename, last_value FROM pg_sequences ORDER BY 1',
    )
    return { rows, ids }
  }
  await database.admin.query('SELECT pg_stat_force_next_flush()')
  const before = await writes()
  await client.query('BEGIN')
  t.strictSame(await verifyWithoutScope(client), [])
  await client.query('ROLLBACK; SELECT pg_stat_force_next_flush()')
  t.strictSame(await writes(), before)
  await database.admin.query('CREATE POLICY wide ON invoices FOR SELECT USING (amount > 0)')
  await client.query('BEGIN')
  t.match(await verifyWithoutScope(client), [
    { problem: 'The table invoices shows rows without a scope.', remedy: /./ },
  ])
})

t.test('the part at start takes no id from a sequence', async (t) => {
  const database = await createDatabase(t)
  const used = async () => {
    const { rows } = await database.admin.query(
      'SELECT sequencename, last_value FROM pg_sequences ORDER BY 1',
    )
    return rows
  }
  const before = await used()
  t.strictSame(await verifyDatabase(database.url, 'web'), [])
  t.strictSame(await used(), before)
})

t.test('every tenant table that the application role may fill has an isolation row', async (t) => {
  const database = await createDatabase(t)
  const { rows } = await database.admin.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
       AND has_any_column_privilege('test_app', oid, 'INSERT') AND relname <> ALL ($1)`,
    [[...identityTables, ...serviceTables, 'tenants']],
  )
  t.strictSame(
    Object.keys(isolationRows).toSorted(),
    rows.map(({ name }) => name).toSorted(),
    'src/schema/verification/isolation-rows.ts has a row for each of them and no other',
  )
})

t.test('each way of access to another tenant’s rows is found', async (t) => {
  const findings: [string, string, RegExp[]][] = [
    [
      'row-level security disabled',
      'ALTER TABLE posts DISABLE ROW LEVEL SECURITY',
      [
        /posts shows a tenant the rows of another/,
        /posts accepts/,
        /posts shows rows without a scope/,
      ],
    ],
    ['a policy dropped', 'DROP POLICY tenant_scope ON posts', [/posts refuses/, /posts hides/]],
    [
      'a policy USING (true)',
      'DROP POLICY tenant_scope ON posts; CREATE POLICY tenant_scope ON posts USING (true)',
      [
        /posts shows a tenant the rows of another/,
        /posts accepts/,
        /posts shows rows without a scope/,
      ],
    ],
    [
      'an INSERT policy WITH CHECK (true)',
      'CREATE POLICY wide ON posts FOR INSERT WITH CHECK (true)',
      [/posts accepts/],
    ],
    [
      'a policy with a branch for no context',
      'CREATE POLICY wide ON posts USING ((SELECT current_tenant_id()) IS NULL)',
      [/posts shows rows without a scope/],
    ],
    [
      'a table to which the role cannot add rows',
      'CREATE POLICY wide ON invoices FOR SELECT USING (amount > 0)',
      [/invoices shows rows without a scope/, /invoices shows a tenant the rows of another/],
    ],
    [
      'the policy that places new orders without the tenant',
      'ALTER POLICY placed_in_own_tenant ON orders WITH CHECK (user_id = (SELECT current_user_id()))',
      [/orders accepts/],
    ],
    [
      'an audit log that shows everything',
      'CREATE POLICY wide ON audit_log FOR SELECT USING (true)',
      [/audit_log shows a tenant the rows of another/, /audit_log shows rows without/],
    ],
    [
      'tenants that anyone can create',
      'GRANT INSERT ON tenants TO :role; CREATE POLICY wide ON tenants FOR INSERT WITH CHECK (true)',
      [/tenants accepts/],
    ],
    [
      'people who are shown to everyone',
      'CREATE POLICY wide ON users FOR SELECT USING (true)',
      [/users shows a person the rows of another/],
    ],
    [
      'sessions that can be ended by others',
      'ALTER TABLE sessions DISABLE ROW LEVEL SECURITY',
      [/sessions shows a person the rows of another/],
    ],
    [
      'a person without their own identities',
      'DROP POLICY owner_scope ON oauth_identities',
      [/oauth_identities hides a person's own/],
    ],
    [
      'policies that stand, over a scope that does not',
      `CREATE OR REPLACE FUNCTION current_tenant_id() RETURNS uuid
       LANGUAGE sql STABLE SECURITY DEFINER
       RETURN (SELECT tenant_id FROM memberships ORDER BY user_id LIMIT 1)`,
      [/./],
    ],
    [
      'a role that bypasses it',
      'ALTER ROLE :role BYPASSRLS',
      [/posts shows/, /orders shows/, /invoices shows/, /audit_log shows/, /tenants shows/],
    ],
  ]
  for (const [name, sql, problems] of findings) {
    const found = await tryWith(t, sql)
    for (const problem of problems)
      t.ok(
        found.some((one) => problem.test(one)),
        `${name}: ${found}`,
      )
  }
})

t.test('a check that is killed half-way is an error, and leaves nothing behind', async (t) => {
  const database = await createDatabase(t)
  const blocker = await database.admin.connect()
  t.teardown(() => blocker.release())
  await blocker.query('BEGIN; LOCK TABLE posts IN ACCESS EXCLUSIVE MODE')
  const trying = tryAs(database.url).catch((error: unknown) => error)
  await until(
    database,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  )
  t.type(await trying, Error)
  await blocker.query('ROLLBACK')
  t.equal((await database.admin.query('SELECT FROM tenants')).rowCount, 0)
})

/** Runs `sql` in a new database and returns the problems for a new role (`:role` in `sql`). */
async function tryWith(t: Test, sql: string): Promise<string[]> {
  const database = await createDatabaseWithRole(t)
  const { tenantId } = await createUser(database)
  await createTestInvoice(database, tenantId)
  await database.admin.query(sql.replaceAll(':role', database.roleName))
  return tryAs(database.url)
}

async function tryAs(url: string): Promise<string[]> {
  // A test looks whether it waits for a lock.
  const client = new pg.Client({ connectionString: url, lock_timeout: 4_500 })
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query('BEGIN')
    return (await verifyIsolation(client)).map(({ problem }) => problem)
  } finally {
    await client.end()
  }
}
