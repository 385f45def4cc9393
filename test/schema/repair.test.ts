import t, { type Test } from 'tap'
import { parseDefinitions, readDefinitions } from '#src/schema/definitions.ts'
import { repair } from '#src/schema/migrate.ts'
import { verifyDatabase } from '#src/schema/verify.ts'
import { leak } from '#test/support/app/production.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { query } from '#test/support/database/raw-sql.ts'

t.test('the definitions are what the migrations make: recreated, nothing changes', async (t) => {
  const { admin } = await createDatabase(t)
  const before = await describeCatalogue({ admin })
  const { tables, views, functions } = await readDefinitions()
  for (const [table, { policies, enabled, forced }] of tables) {
    for (const [policy, create] of policies) {
      await admin.query(`DROP POLICY ${policy} ON ${table}; ${create}`)
    }
    const flags = [enabled ? 'ENABLE' : 'DISABLE', forced ? 'FORCE' : 'NO FORCE']
    await admin.query(
      `ALTER TABLE ${table} ${flags.map((flag) => `${flag} ROW LEVEL SECURITY`).join(', ')}`,
    )
  }
  for (const create of [...views.values(), ...functions.values()]) await admin.query(create)
  t.strictSame(await describeCatalogue({ admin }), before)
  const ofTables = [...tables.values()].flatMap(({ policies }) => [...policies.keys()])
  const { rows } = await admin.query('SELECT count(*)::int AS policies FROM pg_policy')
  t.strictSame(rows, [{ policies: ofTables.length }], 'all of them')
})

t.test('later migrations replace and remove what earlier ones made', async (t) => {
  const { tables, views, functions } = parseDefinitions([
    {
      name: '1',
      sql: `-- A table; with a semicolon.
        CREATE POLICY "one" ON "a" USING (x = 'a;''b'); CREATE POLICY two ON a USING (true);
        ALTER TABLE "a" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
        CREATE FUNCTION "f"() RETURNS text LANGUAGE sql AS $$ SELECT 'a;b' -- c
        $$; CREATE VIEW v AS SELECT 1; CREATE TABLE b (); ALTER TABLE b ENABLE ROW LEVEL SECURITY`,
    },
    {
      name: '2',
      sql: `DROP POLICY two ON a; DROP VIEW v; DROP TABLE b; ALTER TABLE a NO FORCE ROW LEVEL SECURITY`,
    },
  ])
  t.strictSame([...tables.keys()], ['a'])
  const policies = new Map([['one', `CREATE POLICY "one" ON "a" USING (x = 'a;''b')`]])
  t.strictSame(tables.get('a'), { enabled: true, forced: false, policies })
  t.equal(views.size, 0)
  t.match(functions.get('f'), /^CREATE OR REPLACE FUNCTION "f"\(\) .* SELECT 'a;b' -- c\n/)
})

t.test(
  'each finding names the statement that repairs it, and migrate --repair runs it',
  async (t) => {
    const damages: [string, RegExp][] = [
      ['ALTER TABLE posts DISABLE ROW LEVEL SECURITY', /"posts" ENABLE ROW LEVEL SECURITY;/],
      ['ALTER TABLE orders NO FORCE ROW LEVEL SECURITY', /"orders" FORCE ROW LEVEL SECURITY;/],
      ['ALTER TABLE sessions FORCE ROW LEVEL SECURITY', /"sessions" NO FORCE ROW LEVEL SECURITY;/],
      ['CREATE POLICY wide ON invoices USING (true)', /DROP POLICY "?wide"? ON "invoices";/],
      ['DROP POLICY tenant_scope ON invoices', /CREATE POLICY "tenant_scope" ON "invoices"/],
      ['DROP POLICY placed_in_own_tenant ON orders', /CREATE POLICY "placed_in_own_tenant"/],
      [
        'ALTER POLICY tenant_change ON memberships USING ((SELECT current_tenant_id()) IS NULL)',
        /CREATE POLICY "tenant_change" ON "memberships"/,
      ],
      [
        `CREATE OR REPLACE VIEW tenant_members WITH (security_invoker = true) AS
       SELECT tenant_id, user_id, role, department, created_at FROM memberships`,
        /CREATE OR REPLACE VIEW "tenant_members"/,
      ],
      ['GRANT SELECT (email) ON users TO PUBLIC', /REVOKE ALL ON TABLE "users" FROM PUBLIC;/],
      [leak, /DROP POLICY "?wide"? ON "posts";/],
      ['ALTER FUNCTION touch_token(bytea) RESET search_path', /SET search_path = pg_catalog/],
      [
        'ALTER FUNCTION touch_token(bytea) SECURITY INVOKER',
        /touch_token\(bytea\) SECURITY DEFINER;/,
      ],
      ['GRANT EXECUTE ON FUNCTION touch_token(bytea) TO PUBLIC', /REVOKE ALL .* FROM PUBLIC;/],
      ['DROP FUNCTION touch_token(bytea)', /migrate --repair/],
      ['CREATE POLICY wide ON scope_keys USING (true)', /DROP POLICY "?wide"? ON "?scope_keys"?;/],
    ]
    const database = await createOwnedDatabase(t)
    const before = await describeCatalogue(database)
    for (const [damage, statement] of damages) {
      await database.admin.query(damage)
      const [finding] = await verifyDatabase(database.url, 'web')
      t.match(finding?.remedy, /gatehouse migrate --repair/, damage)
      t.match(finding?.remedy, statement)
      const { repaired, remaining } = await repair(database)
      t.ok(repaired.length > 0)
      t.strictSame(remaining, [], damage)
      t.strictSame(await describeCatalogue(database), before, damage)
    }
    t.strictSame(await repair(database), { repaired: [], remaining: [] })
  },
)

t.test('what no migration makes is left, and reported', async (t) => {
  const database = await createOwnedDatabase(t)
  await query(database.ownerUrl, 'CREATE TABLE notes (tenant_id uuid NOT NULL)')
  await database.admin.query('ALTER TABLE posts DISABLE ROW LEVEL SECURITY')
  const { repaired, remaining } = await repair(database)
  t.strictSame(repaired, ['ALTER TABLE "posts" ENABLE ROW LEVEL SECURITY'])
  t.match(remaining, [{ problem: /notes is not under row-level/, remedy: /No migration makes it/ }])
})

/** The owner may create objects in it, as the owner of an installation's database may. */
async function createOwnedDatabase(t: Test): Promise<TestDatabase> {
  const database = await createDatabase(t)
  await database.admin.query('GRANT CREATE ON SCHEMA public TO test_owner')
  return database
}

/** Row-level security, policies, views, functions and privileges, as lines. */
async function describeCatalogue({ admin }: Pick<TestDatabase, 'admin'>): Promise<string[]> {
  const { rows } = await admin.query<{ line: string }>(
    `SELECT line FROM (
       SELECT concat_ws(' ', 'table', oid::regclass, relrowsecurity, relforcerowsecurity,
         (SELECT array_agg(acl::text ORDER BY acl::text) FROM unnest(relacl) acl))
       FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v')
       UNION ALL SELECT concat_ws(' ', 'policy', polrelid::regclass, polname, polcmd, polpermissive,
         pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)) FROM pg_policy
       UNION ALL SELECT concat_ws(' ', 'view', oid::regclass, reloptions, pg_get_viewdef(oid))
         FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'v'
       UNION ALL SELECT concat_ws(' ', 'function', oid::regprocedure, prosecdef, proconfig,
         provolatile, md5(prosrc),
         (SELECT array_agg(acl::text ORDER BY acl::text) FROM unnest(proacl) acl))
       FROM pg_proc WHERE pronamespace = 'public'::regnamespace
     ) AS lines (line) ORDER BY line`,
  )
  return rows.map(({ line }) => line)
}
