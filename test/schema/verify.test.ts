import t, { type Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import type { Finding } from '#src/schema/finding.ts'
import { identityTables } from '#src/schema/tables.ts'
import { verifyDatabase } from '#src/schema/verification/verify.ts'
import { createTestInvoice } from '#test/support/callers/objects.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { createDatabaseWithRole } from '#test/support/database/own-role.ts'

t.test('a migrated database has no findings, for either role', async (t) => {
  const database = await createDatabase(t)
  t.strictSame(await verifyDatabase(database.url, 'web'), [])
  t.strictSame(await verifyDatabase(database.workerUrl, 'worker'), [])
})

t.test('each problem of a table is found, and nothing else', async (t) => {
  const findings: [string, string, RegExp][] = [
    [
      'row-level security disabled',
      'ALTER TABLE posts DISABLE ROW LEVEL SECURITY',
      /posts is not under row-level/,
    ],
    [
      'not forced on the owner',
      'ALTER TABLE orders NO FORCE ROW LEVEL SECURITY',
      /orders is not forced/,
    ],
    [
      'a policy USING (true)',
      'CREATE POLICY wide ON invoices FOR SELECT USING (true)',
      /policy wide of the table invoices/,
    ],
    [
      'a policy that names no context',
      `CREATE POLICY wide ON invoices FOR DELETE USING (status = 'paid')`,
      /policy wide of the table invoices/,
    ],
    [
      'a policy with a way around its context',
      'CREATE POLICY wide ON posts USING (tenant_id = (SELECT current_tenant_id()) OR true)',
      /policy wide of the table posts/,
    ],
    [
      'a policy with a branch for no context',
      'CREATE POLICY wide ON posts USING (tenant_id = current_tenant_id() OR current_tenant_id() IS NULL)',
      /policy wide of the table posts/,
    ],
    [
      'a policy with such a branch in a subselect',
      'CREATE POLICY wide ON orders USING ((SELECT current_user_id()) IS NULL)',
      /policy wide of the table orders/,
    ],
    [
      'an INSERT policy WITH CHECK (true)',
      'CREATE POLICY wide ON posts FOR INSERT WITH CHECK (true)',
      /policy wide of the table posts/,
    ],
    [
      'an UPDATE policy WITH CHECK (true)',
      `CREATE POLICY wide ON posts FOR UPDATE
       USING (tenant_id = (SELECT current_tenant_id())) WITH CHECK (true)`,
      /policy wide of the table posts/,
    ],
    [
      'an audit log that can be read by everyone',
      'CREATE POLICY wide ON audit_log FOR SELECT USING (true)',
      /policy wide of the table audit_log/,
    ],
    [
      'an audit log that can be changed',
      'CREATE POLICY wide ON audit_log FOR UPDATE USING (true)',
      /policy wide of the table audit_log/,
    ],
    ['a policy dropped', 'DROP POLICY tenant_scope ON invoices', /invoices has no policy/],
    [
      'the policy that places new orders without the tenant',
      'ALTER POLICY placed_in_own_tenant ON orders WITH CHECK (user_id = (SELECT current_user_id()))',
      /orders accepts new rows of a tenant other/,
    ],
    [
      'a new tenant table without a policy',
      'CREATE TABLE notes (tenant_id uuid NOT NULL)',
      /notes is not under row-level/,
    ],
    [
      'a new tenant table under no policy',
      `CREATE TABLE notes (tenant_id uuid NOT NULL);
       ALTER TABLE notes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`,
      /notes has no policy/,
    ],
    [
      'row-level security disabled on an identity table',
      'ALTER TABLE sessions DISABLE ROW LEVEL SECURITY',
      /sessions is not under row-level/,
    ],
    [
      'an identity table forced on its owner, whose functions could then read nothing',
      'ALTER TABLE sessions FORCE ROW LEVEL SECURITY',
      /sessions is forced on its owner/,
    ],
    [
      'users shown to everyone',
      'CREATE POLICY wide ON users FOR SELECT USING (true)',
      /policy wide of the table users/,
    ],
    [
      'members that can be changed without a scope',
      'ALTER POLICY tenant_change ON memberships USING ((SELECT current_tenant_id()) IS NULL)',
      /policy tenant_change of the table memberships/,
    ],
    [
      'a view that is not security_invoker',
      'CREATE VIEW all_posts AS SELECT * FROM posts',
      /view all_posts is not security_invoker/,
    ],
    [
      'a view over an identity table that names no scope',
      'CREATE VIEW all_members WITH (security_invoker = true) AS SELECT * FROM memberships',
      /view all_members shows rows of every scope/,
    ],
    [
      'a view over an identity table with a branch for no scope',
      `CREATE VIEW all_members WITH (security_invoker = true) AS SELECT * FROM memberships
       WHERE tenant_id = (SELECT current_tenant_id()) OR (SELECT current_tenant_id()) IS NULL`,
      /view all_members shows rows of every scope/,
    ],
    [
      'the view of a tenant’s members without its condition',
      `CREATE OR REPLACE VIEW tenant_members WITH (security_invoker = true) AS
       SELECT tenant_id, user_id, role, department, created_at FROM memberships`,
      /view tenant_members shows rows of every scope/,
    ],
    [
      'a materialized view',
      'CREATE MATERIALIZED VIEW all_posts AS SELECT 1 AS one',
      /materialized view all_posts/,
    ],
    ['a table granted to PUBLIC', 'GRANT SELECT ON sessions TO PUBLIC', /sessions is granted/],
    [
      'a column granted to PUBLIC',
      'GRANT SELECT (email) ON users TO PUBLIC',
      /users is granted to PUBLIC/,
    ],
  ]
  for (const [name, sql, problem] of findings) {
    const found = await proveWith(t, sql)
    t.match(found, [{ problem, remedy: /./ }], name)
    t.equal(found.length, 1)
  }
  t.strictSame(
    await proveWith(
      t,
      `CREATE VIEW own_posts WITH (security_invoker = true) AS SELECT * FROM posts`,
    ),
    [],
    'a security_invoker view is no flaw',
  )
})

t.test(
  'enabled and not forced are the tables named in src/schema/tables.ts, and no other',
  async (t) => {
    const database = await createDatabase(t)
    const { rows } = await database.admin.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relrowsecurity AND NOT relforcerowsecurity`,
    )
    t.strictSame(rows.map(({ name }) => name).toSorted(), [...identityTables].toSorted())
  },
)

t.test('the check of every minute finds the same, and writes nothing', async (t) => {
  const database = await createDatabaseWithRole(t)
  await createTestInvoice(database, (await createUser(database)).tenantId)
  const sequences = async () =>
    (await database.admin.query('SELECT sequencename, last_value FROM pg_sequences ORDER BY 1'))
      .rows
  const before = await sequences()
  t.strictSame(await verifyDatabase(database.url, 'web', 'catalogue'), [])
  t.strictSame(await sequences(), before, 'not even an id is used up')
  const enter = 'ALTER FUNCTION enter_session(bytea, integer, boolean)'
  for (const [sql, problem, undo] of [
    [
      'CREATE POLICY wide ON posts USING (true)',
      /policy wide of the table posts/,
      'DROP POLICY wide ON posts',
    ],
    [
      `${enter} RESET search_path`,
      /no fixed search_path/,
      `${enter} SET search_path = pg_catalog, pg_temp`,
    ],
    [`${enter} SET row_security = off`, /or other settings/, `${enter} RESET row_security`],
  ] as const) {
    await database.admin.query(sql)
    t.match(await verifyDatabase(database.url, 'web', 'catalogue'), [{ problem }], sql)
    await database.admin.query(undo)
  }
  t.strictSame(await verifyDatabase(database.url, 'web', 'catalogue'), [])
})

t.test('each flaw of the role is found, named, and alone', async (t) => {
  const app = ':role'
  const findings: [string, string, RegExp][] = [
    ['superuser', `ALTER ROLE ${app} SUPERUSER`, /superuser or BYPASSRLS/],
    ['BYPASSRLS', `ALTER ROLE ${app} BYPASSRLS`, /superuser or BYPASSRLS/],
    [
      'BYPASSRLS through a membership',
      `CREATE ROLE :role_bypass BYPASSRLS; GRANT :role_bypass TO ${app}`,
      /superuser or BYPASSRLS/,
    ],
    [
      'BYPASSRLS through a membership that is not inherited',
      `CREATE ROLE :role_bypass BYPASSRLS; ALTER ROLE ${app} NOINHERIT; GRANT :role_bypass TO ${app}`,
      /superuser or BYPASSRLS/,
    ],
    ['the owner of a table', `ALTER TABLE posts OWNER TO ${app}`, /owns tables.*posts/],
    [
      'may become the owner',
      `CREATE ROLE ${app}_bypass; ALTER TABLE posts OWNER TO ${app}_bypass;
       GRANT ${app}_bypass TO ${app} WITH INHERIT FALSE`,
      /may become their owner/,
    ],
    ['reads all data', `GRANT pg_read_all_data TO ${app}`, /powerful: pg_read_all_data/],
    ['runs programs', `GRANT pg_execute_server_program TO ${app}`, /powerful/],
    ['CREATEROLE', `ALTER ROLE ${app} CREATEROLE`, /powerful: CREATEROLE/],
    ['REPLICATION', `ALTER ROLE ${app} REPLICATION`, /powerful: REPLICATION/],
    ['CREATE on public', `GRANT CREATE ON SCHEMA public TO ${app}`, /may create objects/],
    ['TRUNCATE granted', `GRANT TRUNCATE ON posts TO ${app}`, /may TRUNCATE.*posts/],
    ['REFERENCES granted', `GRANT REFERENCES ON users TO ${app}`, /may TRUNCATE.*users/],
    [
      'a SECURITY DEFINER function',
      `CREATE FUNCTION peek() RETURNS bigint LANGUAGE sql SECURITY DEFINER
       RETURN (SELECT count(*) FROM posts)`,
      /as another role through peek\(\)/,
    ],
    [
      'a context that is there from the start',
      `ALTER ROLE ${app} SET app.scope = 'x'`,
      /before any credential sets one/,
    ],
  ]
  for (const [name, sql, problem] of findings) {
    const found = await proveWith(t, sql)
    t.match(found, [{ problem, remedy: /./ }], name)
    t.equal(found.length, 1)
  }
})

t.test('behind a pooler the role must have timeouts', async (t) => {
  const database = await createDatabaseWithRole(t)
  const url = `${database.url}?pgbouncer=true`
  t.strictSame(await verifyDatabase(url, 'web'), [], 'as migrate makes it')
  await database.admin.query(`ALTER ROLE ${database.roleName} RESET lock_timeout`)
  t.match(await verifyDatabase(url, 'web'), [{ problem: /without a limit \(lock_timeout\)/ }])
  t.strictSame(await verifyDatabase(database.url, 'web'), [], 'without one a connection names them')
})

t.test('a database that is not ready is one finding with its remedy', async (t) => {
  const database = await createDatabase(t)
  await database.admin.query(
    'CREATE TABLE kept AS SELECT * FROM _prisma_migrations; UPDATE _prisma_migrations SET rolled_back_at = now()',
  )
  const behind = /The database is behind by \d+ migration/
  t.match(await verifyDatabase(database.url, 'web'), [
    { problem: behind, remedy: /gatehouse migrate/ },
  ])
  await database.admin.query(
    'UPDATE _prisma_migrations SET rolled_back_at = NULL, finished_at = NULL',
  )
  t.match(await verifyDatabase(database.url, 'web'), [{ problem: behind }], 'unfinished is missing')
  await database.admin.query('DELETE FROM _prisma_migrations')
  t.match(await verifyDatabase(database.url, 'web'), [{ problem: behind }], 'the row is missing')
  await database.admin.query('DROP TABLE _prisma_migrations')
  t.match(await verifyDatabase(database.url, 'web'), [{ problem: /no schema for this role/ }])
})

t.test('a database that cannot be reached is an error', async (t) => {
  await t.rejects(verifyDatabase('postgres://nobody@127.0.0.1:1/none', 'web'), {
    code: 'ECONNREFUSED',
  })
})

/** Runs `sql` in a new database and returns the findings for a new role (`:role` in `sql`). */
async function proveWith(t: Test, sql: string): Promise<Finding[]> {
  const database = await createDatabaseWithRole(t)
  await database.admin.query(sql.replaceAll(':role', database.roleName))
  return verifyDatabase(database.url, 'web')
}
