import pg from 'pg'
import t, { type Test } from 'tap'
import { isolationRows } from '#src/schema/isolation-rows.ts'
import { serviceTables, unscopedTables } from '#src/schema/tables.ts'
import { verifyIsolation } from '#src/schema/verify-isolation.ts'
import { createDatabase, createTestInvoice, createUser } from '#test/support/helper.ts'
import { createDatabaseWithRole } from '#test/support/own-role.ts'

t.test('the temporary tenants see only their own rows and leave none behind', async (t) => {
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

t.test(
  'every tenant table to which the application role may add rows has an isolation row',
  async (t) => {
    const database = await createDatabase(t)
    const { rows } = await database.admin.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
       AND has_any_column_privilege('test_app', oid, 'INSERT') AND relname <> ALL ($1)`,
      [[...unscopedTables, ...serviceTables, 'tenants']],
    )
    t.strictSame(
      Object.keys(isolationRows).toSorted(),
      rows.map(({ name }) => name).toSorted(),
      'src/schema/isolation-rows.ts has a row for each of them and no other',
    )
  },
)

t.test('each way of access to another tenant’s rows is found', async (t) => {
  const findings: [string, string, RegExp[]][] = [
    [
      'row-level security disabled',
      'ALTER TABLE posts DISABLE ROW LEVEL SECURITY',
      [/posts shows a tenant another's/, /posts takes/, /posts shows rows although no tenant/],
    ],
    ['a policy dropped', 'DROP POLICY tenant_scope ON posts', [/posts refuses/, /posts hides/]],
    [
      'a policy USING (true)',
      'DROP POLICY tenant_scope ON posts; CREATE POLICY tenant_scope ON posts USING (true)',
      [/posts shows a tenant another's/, /posts takes/, /posts shows rows although no tenant/],
    ],
    [
      'an INSERT policy WITH CHECK (true)',
      'CREATE POLICY wide ON posts FOR INSERT WITH CHECK (true)',
      [/posts takes/],
    ],
    [
      'a policy with a branch for no context',
      'CREATE POLICY wide ON posts USING ((SELECT current_tenant_id()) IS NULL)',
      [/posts shows rows although no tenant/],
    ],
    [
      'a table to which the role cannot add rows',
      'CREATE POLICY wide ON invoices FOR SELECT USING (amount > 0)',
      [/invoices shows rows although no tenant/, /invoices shows a tenant another's/],
    ],
    [
      'the policy that places new orders dropped',
      'DROP POLICY placed_in_own_tenant ON orders',
      [/orders takes/],
    ],
    [
      'an audit log that shows everything',
      'CREATE POLICY wide ON audit_log FOR SELECT USING (true)',
      [/audit_log shows a tenant another's/, /audit_log shows rows although/],
    ],
    [
      'tenants that anyone can create',
      'CREATE POLICY wide ON tenants FOR INSERT WITH CHECK (true)',
      [/tenants takes/],
    ],
    [
      'valid policies over a broken current_tenant_id()',
      `CREATE OR REPLACE FUNCTION current_tenant_id() RETURNS uuid LANGUAGE sql STABLE
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

t.test('a check that is killed midway is an error and leaves no rows', async (t) => {
  const database = await createDatabase(t)
  const blocker = await database.admin.connect()
  t.teardown(() => blocker.release())
  await blocker.query('BEGIN; LOCK TABLE posts IN ACCESS EXCLUSIVE MODE')
  const trying = tryAs(database.url).catch((error: unknown) => error)
  const waiting = `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE NOT granted`
  while ((await database.admin.query(waiting)).rowCount === 0);
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
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await verifyIsolation(client)).map(({ problem }) => problem)
  } finally {
    await client.end()
  }
}
