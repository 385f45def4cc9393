import pg from 'pg'
import t, { type Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { readFingerprint } from '#src/schema/verification/fingerprint.ts'
import { repeatVerification } from '#src/schema/verification/verify.ts'
import { createDatabaseWithRole } from '#test/support/database/own-role.ts'

async function setUp(t: Test) {
  const database = await createDatabaseWithRole(t)
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  t.teardown(() => client.end())
  return { database, client, read: () => readFingerprint(client) }
}

t.test('whatever the verification looks at changes the fingerprint', async (t) => {
  const { database, read } = await setUp(t)
  const role = database.roleName
  const trigger = `CREATE TRIGGER extra BEFORE INSERT ON orders FOR EACH ROW
    EXECUTE FUNCTION suppress_redundant_updates_trigger()`
  const changes = [
    'ALTER TABLE orders DISABLE ROW LEVEL SECURITY',
    'ALTER TABLE orders NO FORCE ROW LEVEL SECURITY',
    'ALTER TABLE orders ADD COLUMN extra text',
    'ALTER TABLE orders ALTER COLUMN extra SET NOT NULL',
    'CREATE TABLE extra (id int)',
    'CREATE VIEW extra_view AS SELECT 1 AS one',
    'CREATE OR REPLACE VIEW extra_view AS SELECT 2 AS one',
    'ALTER VIEW extra_view SET (security_invoker = true)',
    'CREATE POLICY extra ON orders USING (true)',
    'ALTER POLICY extra ON orders USING (false)',
    'DROP POLICY extra ON orders',
    trigger,
    'ALTER TABLE orders DISABLE TRIGGER extra',
    'CREATE FUNCTION extra() RETURNS int LANGUAGE sql RETURN 1',
    'CREATE OR REPLACE FUNCTION extra() RETURNS int LANGUAGE sql RETURN 2',
    'ALTER FUNCTION extra() SECURITY DEFINER',
    'ALTER FUNCTION extra() SET search_path = public',
    'GRANT EXECUTE ON FUNCTION extra() TO PUBLIC',
    'ALTER EXTENSION plpgsql ADD FUNCTION extra()',
    'CREATE FUNCTION pgboss.extra() RETURNS int LANGUAGE sql SECURITY DEFINER RETURN 1',
    `GRANT TRUNCATE ON orders TO ${role}`,
    `GRANT UPDATE (id) ON users TO ${role}`,
    `GRANT CREATE ON SCHEMA public TO ${role}`,
    `ALTER ROLE ${role} BYPASSRLS`,
    `ALTER ROLE ${role} CREATEROLE`,
    `GRANT pg_read_all_data TO ${role}`,
    `REVOKE INHERIT OPTION FOR pg_read_all_data FROM ${role}`,
    `ALTER ROLE ${role} SET statement_timeout = 0`,
    `INSERT INTO schema_releases (version, files) VALUES ('9.9.9', '{}')`,
    `UPDATE schema_objects SET facts = facts WHERE name = 'orders'`,
    `DELETE FROM _prisma_migrations`,
  ]
  let before = await read()
  for (const change of changes) {
    await database.admin.query(change)
    const now = await read()
    t.not(now, before, change)
    before = now
  }
})

t.test('so does a setting, also one of the server', async (t) => {
  const { client, read } = await setUp(t)
  for (const change of ['SET statement_timeout = 0', `SET app.scope = 'x'`]) {
    const before = await read()
    await client.query(change)
    t.not(await read(), before, change)
  }
})

t.test('rows and upkeep do not change it', async (t) => {
  const { database, read } = await setUp(t)
  const before = await read()
  await createUser(database)
  await createDatabaseWithRole(t) // with a role that is none of its business
  for (const upkeep of ['ANALYZE', 'VACUUM', 'VACUUM (FREEZE) pg_class, pg_proc, pg_policy']) {
    await database.admin.query(upkeep)
    t.equal(await read(), before, upkeep)
  }
})

t.test('what is found is found each time, until it is repaired', async (t) => {
  const { database } = await setUp(t)
  const verify = repeatVerification(database.url)
  t.strictSame(await verify(), [])
  t.strictSame(await verify(), [])
  await database.admin.query('ALTER TABLE orders NO FORCE ROW LEVEL SECURITY')
  for (const time of ['first', 'again']) t.match(await verify(), [{ object: 'orders' }], time)
  await database.admin.query('ALTER TABLE orders FORCE ROW LEVEL SECURITY')
  t.strictSame(await verify(), [])
})
