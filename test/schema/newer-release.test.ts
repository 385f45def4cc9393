import pg from 'pg'
import t, { type Test } from 'tap'
import { type CatalogueObject, readCatalogue, readPrivileges } from '#src/schema/catalogue.ts'
import { keptIn, type Part, readDefinitions } from '#src/schema/definitions.ts'
import {
  readRecord,
  recordObjects,
  recordPrivileges,
  type SchemaRecord,
} from '#src/schema/record.ts'
import { verifyDatabase } from '#src/schema/verification/verify.ts'
import { createDatabaseWithRole } from '#test/support/database/own-role.ts'

/** Functions that the release under test keeps for the one before, and does not call. */
const kept = ['record_profile', 'feed_horizon']
const ownRelease = async () => ({ definitions: { ...(await readDefinitions()), kept } })

const isOfRelease = /is of release 99\.0\.0: run `gatehouse migrate` of that release/
const isForGood = /is of release 99\.0\.0, which made it so\. Replace this process/

/** Changes of a newer release that this one does not notice, except as changes by hand. */
const changes: Readonly<Record<string, string>> = {
  'a function that this release only keeps is gone': 'DROP FUNCTION record_profile(text, text)',
  'a kept function that everyone may call is gone': 'DROP FUNCTION feed_horizon()',
  'a role may no longer call a function': 'REVOKE EXECUTE ON FUNCTION is_operator() FROM :role',
  'a role may call a function of the other one':
    'GRANT EXECUTE ON FUNCTION list_usage(integer) TO :role',
  'a function has another body':
    'CREATE OR REPLACE FUNCTION record_profile(told_name text, told_locale text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ BEGIN END $$',
  'a function has more settings': 'ALTER FUNCTION is_operator() SET enable_nestloop = off',
  'a function runs as its caller, and everyone may call it':
    'ALTER FUNCTION customer_is_free(text) SECURITY INVOKER; GRANT EXECUTE ON FUNCTION customer_is_free(text) TO PUBLIC',
  'a table that this release does not use is gone': 'DROP TABLE endpoint_probes',
  'a table takes no new rows': 'REVOKE INSERT ON endpoint_probes FROM :role',
  'functions of the owner see a table without a scope':
    'ALTER TABLE teams NO FORCE ROW LEVEL SECURITY',
  'they no longer do': 'ALTER TABLE erasures FORCE ROW LEVEL SECURITY',
  'a policy is gone': 'DROP POLICY owner_removal ON orders',
  'a policy is new':
    'CREATE POLICY more ON invoices AS RESTRICTIVE USING (tenant_id = (SELECT current_tenant_id()))',
  'a trigger is gone': 'DROP TRIGGER note_erasure ON users',
  'a trigger is new':
    'CREATE TRIGGER extra BEFORE DELETE ON users FOR EACH ROW EXECUTE FUNCTION note_erasure()',
}

for (const [name, sql] of Object.entries(changes)) {
  t.test(`on the database of a newer release: ${name}`, async (t) => {
    const { url, admin, roleName } = await createDatabaseWithRole(t)
    const find = async () => verifyDatabase(url, 'web', 'isolation', await ownRelease())
    await admin.query(sql.replaceAll(':role', roleName))
    t.match((await find()).length > 0, true, 'by hand, on the database of its own release')
    await becomeNewer(admin)
    t.match(await find(), [{ remedy: isOfRelease }], 'by hand, on that of a newer one')
    await record(admin, roleName)
    t.strictSame(await find(), [], 'by the newer release')
  })
}

t.test('between the migrations of a newer release and its record', async (t) => {
  const { url, admin, roleName } = await createDatabaseWithRole(t)
  const find = () => verifyDatabase(url, 'web', 'catalogue')
  await admin.query(
    'DROP TABLE endpoint_probes; ALTER TABLE token_revocations DROP COLUMN tenant_id CASCADE',
  )
  t.match(
    await find(),
    [{ object: 'endpoint_probes' }, { object: 'token_revocations', problem: /may not UPDATE/ }],
    'a table and a column that were dropped by hand',
  )
  await addMigration(admin)
  t.strictSame(await find(), [], 'a table and a column that a migration has dropped')
  await admin.query(`GRANT DELETE ON audit_log TO ${roleName}`)
  t.match(await find(), [{ object: 'audit_log' }], 'a privilege that was given by hand')
  await admin.query(`REVOKE DELETE ON audit_log FROM ${roleName}`)
  await admin.query('DROP POLICY owner_removal ON orders')
  t.match(await find(), [{ object: 'orders' }], 'a policy that was dropped by hand')
})

t.test('a newer release that migrates while a process of this one verifies', async (t) => {
  const { url, admin, roleName } = await createDatabaseWithRole(t)
  const migrateNow = async () => {
    await admin.query(
      `CREATE FUNCTION newest() RETURNS bigint LANGUAGE sql SECURITY DEFINER
         SET search_path = pg_catalog, pg_temp RETURN 1;
       ALTER FUNCTION newest() OWNER TO test_owner; REVOKE EXECUTE ON FUNCTION newest() FROM PUBLIC;
       GRANT EXECUTE ON FUNCTION newest() TO ${roleName}`,
    )
    await becomeNewer(admin)
    await record(admin, roleName)
  }
  const looks = interceptFunctions(t, migrateNow)
  t.strictSame(await verifyDatabase(url, 'web', 'catalogue', await ownRelease()), [])
  t.equal(looks(), 2, 'the first look compared the old record with the new functions')
})

/**
 * Does something before the first look at the functions, after the one at the record.
 * @returns how many looks there were
 */
function interceptFunctions(t: Pick<Test, 'teardown'>, before: () => Promise<void>) {
  const { query } = pg.Client.prototype
  let looks = 0
  pg.Client.prototype.query = function interceptedQuery(...args: unknown[]) {
    const send = () => Reflect.apply(query, this, args)
    if (!String(args[1]).startsWith('search_path=')) return send()
    looks += 1
    return looks === 1 ? before().then(send) : send()
  }
  t.teardown(() => {
    pg.Client.prototype.query = query
  })
  return () => looks
}

/** What keeps a process of this release from serving, although the newer one made it so. */
const breaks: Readonly<
  Record<string, readonly [string, RegExp, RegExp, asTheRemedySays?: string]>
> = {
  'a function that it calls is gone': [
    'DROP FUNCTION prove_address(text)',
    /function prove_address\(text\) is missing/,
    isForGood,
  ],
  'a policy that names no scope it knows': [
    'CREATE POLICY wide ON invoices USING (amount > 0)',
    /policy wide of the table invoices accepts rows of every scope/,
    isForGood,
  ],
  'a table without row-level security': [
    'ALTER TABLE invoices DISABLE ROW LEVEL SECURITY',
    /invoices is not under row-level security/,
    isForGood,
  ],
  'a forged scope that is accepted': [
    `CREATE OR REPLACE FUNCTION verified_scope() RETURNS text[] LANGUAGE sql STABLE
       RETURN string_to_array(current_setting('app.scope', true), ':')`,
    /without a valid seal is accepted/,
    isForGood,
  ],
  'a function of the owner through another role, which no release grants': [
    `CREATE ROLE :role_bypass; GRANT EXECUTE ON FUNCTION list_usage(integer) TO :role_bypass; GRANT :role_bypass TO :role`,
    /may call the function list_usage\(integer\), which is for another role/,
    /revoke that role/,
    'REVOKE :role_bypass FROM :role',
  ],
}

for (const [name, [sql, problem, remedy, mend]] of Object.entries(breaks)) {
  t.test(`on the database of a newer release is still found: ${name}`, async (t) => {
    const { url, admin, roleName } = await createDatabaseWithRole(t)
    await admin.query(sql.replaceAll(':role', roleName))
    await becomeNewer(admin)
    await record(admin, roleName)
    const find = async () => verifyDatabase(url, 'web', 'catalogue', await ownRelease())
    t.match(await find(), [{ problem, remedy }])
    if (mend === undefined) return
    await admin.query(mend.replaceAll(':role', roleName))
    t.strictSame(await find(), [], 'after the remedy')
  })
}

t.test('kept are the functions that only previous.sql defines', (t) => {
  const create = (name: string) =>
    `-- What it does.\nCREATE OR REPLACE FUNCTION ${name}(a text) RETURNS text LANGUAGE sql RETURN a`
  const others = { 'sign-in.sql': [create('both'), create('new_name')] }
  const previous = [create('old_name'), create('both')]
  t.strictSame(keptIn({ ...others, 'previous.sql': previous }), ['old_name'])
  t.strictSame(keptIn(others), [])
  t.end()
})

/** Adds a migration and a run of `migrate` of a release that this program does not know. */
async function becomeNewer(admin: pg.Pool): Promise<void> {
  await addMigration(admin)
  await admin.query(`INSERT INTO schema_releases (version, files) SELECT '99.0.0', '{}'`)
}

async function addMigration(admin: pg.Pool): Promise<void> {
  await admin.query(
    `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
     VALUES (gen_random_uuid(), '', '29990101000000_next', now(), 1)`,
  )
}

const newPart = {
  function: 'functions',
  table: 'policies',
  view: 'policies',
  policy: 'policies',
  trigger: 'triggers',
} as const satisfies Record<CatalogueObject['kind'], Part>

/** Records the catalogue, as `migrate` of the newer release does. */
async function record(admin: pg.Pool, role: string): Promise<void> {
  const client = await admin.connect()
  try {
    const before = await readRecord(client)
    const objects = before?.objects ?? []
    const tables = objects.flatMap(({ kind, name }) =>
      kind === 'table' || kind === 'view' ? [name] : [],
    )
    const found = await readCatalogue(client, tables)
    for (const part of ['functions', 'policies', 'triggers'] as const) {
      await recordObjects(
        client,
        part,
        found.filter((one) => partOf(one, objects) === part),
      )
    }
    for (const one of [role, 'PUBLIC']) {
      await recordPrivileges(client, one, await readPrivileges(client, one))
    }
  } finally {
    client.release()
  }
}

function partOf({ kind, name }: CatalogueObject, objects: SchemaRecord['objects']): Part {
  return objects.find((one) => one.kind === kind && one.name === name)?.part ?? newPart[kind]
}
