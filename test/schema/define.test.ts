import { readFile } from 'node:fs/promises'
import t from 'tap'
import { listAssets } from '#src/runtime/assets.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { type Definitions, describe, readDefinitions } from '#src/schema/definitions.ts'
import { migrate } from '#src/schema/migrate.ts'
import { readMigrations } from '#src/schema/migrations/applied.ts'
import { verifyDatabase } from '#src/schema/verification/verify.ts'
import { leak } from '#test/support/app/production.ts'
import { createOwnedDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { query } from '#test/support/database/raw-sql.ts'
import { untilTrue } from '#test/support/database/until.ts'

const files = async () => {
  const paths = await listAssets('prisma')
  const own = paths.filter((path) => path.endsWith('.sql') && !path.startsWith('prisma/citus/'))
  return Promise.all(own.map((path) => readFile(path, 'utf8')))
}

t.test('each function, policy and trigger is defined once, and not in a migration', async (t) => {
  const text = (await files()).join('\n')
  const count = (form: RegExp) => [...text.matchAll(form)].map(([, ...names]) => names.join(' on '))
  for (const form of [
    /^CREATE (?:OR REPLACE )?FUNCTION (?:public\.)?"?(\w+)/gm,
    /^CREATE POLICY (\w+) ON (\w+)/gm,
    /^CREATE TRIGGER (\w+)[\s\S]*? ON (\w+)/gm,
  ]) {
    const names = count(form)
    t.ok(names.length > 3)
    t.strictSame(
      names.filter((name, index) => names.indexOf(name) !== index),
      [],
    )
  }
  for (const { name, sql } of await readMigrations()) {
    t.notMatch(sql, /^\s*(CREATE|DROP|ALTER) (OR REPLACE )?(FUNCTION|POLICY|TRIGGER)\b/m, name)
  }
})

t.test('migrate applies the files once; a second run changes nothing', async (t) => {
  const database = await createOwnedDatabase(t)
  const before = await describeCatalogue(database)
  t.match(await migrate(database), { applied: [], defined: false })
  t.strictSame(await describeCatalogue(database), before)
})

t.test('what was changed by hand is named, and migrate restores it', async (t) => {
  const damages: [string, RegExp][] = [
    ['ALTER TABLE posts DISABLE ROW LEVEL SECURITY', /posts is not under row-level/],
    ['ALTER TABLE orders NO FORCE ROW LEVEL SECURITY', /orders is not forced/],
    ['ALTER TABLE sessions FORCE ROW LEVEL SECURITY', /sessions is forced/],
    ['CREATE POLICY wide ON invoices USING (true)', /policy wide of the table invoices/],
    ['DROP POLICY tenant_scope ON invoices', /invoices has no policy/],
    ['DROP POLICY placed_in_own_tenant ON orders', /orders accepts new rows/],
    ['DROP POLICY owner_removal ON orders', /policy owner_removal of the table orders is missing/],
    [
      'ALTER POLICY owner_removal ON orders USING (user_id = (SELECT current_user_id()) AND id > 0)',
      /policy owner_removal of the table orders was changed by hand/,
    ],
    [
      'ALTER POLICY owner_change ON orders TO test_owner',
      /policy owner_change .* roles test_owner/,
    ],
    ['ALTER TABLE posts DISABLE TRIGGER count_insert', /trigger count_insert .* enabled D instead/],
    ['DROP TRIGGER note_erasure ON users', /trigger note_erasure of the table users is missing/],
    [
      'CREATE TRIGGER extra BEFORE DELETE ON users FOR EACH ROW EXECUTE FUNCTION note_erasure()',
      /trigger extra of the table users is in no file/,
    ],
    ['GRANT SELECT (email) ON users TO PUBLIC', /users is granted to PUBLIC/],
    [leak, /policy wide of the table posts/],
    ['ALTER FUNCTION touch_session(bytea) RESET search_path', /no fixed search_path/],
    ['ALTER FUNCTION touch_session(bytea) SECURITY INVOKER', /is not SECURITY DEFINER/],
    ['GRANT EXECUTE ON FUNCTION touch_session(bytea) TO PUBLIC', /Everyone may call/],
    ['DROP FUNCTION touch_session(bytea)', /function touch_session\(bytea\) is missing/],
    ['CREATE POLICY wide ON scope_keys USING (true)', /scope_keys is not closed/],
    [
      `CREATE OR REPLACE FUNCTION ticket_hash(ticket bytea) RETURNS bytea LANGUAGE sql IMMUTABLE RETURN ticket`,
      /function ticket_hash\(bytea\) was changed by hand/,
    ],
    [
      'ALTER FUNCTION ticket_hash(bytea) SET work_mem = 64',
      /ticket_hash.* settings work_mem=64 inst/,
    ],
    [
      'GRANT DELETE ON audit_log TO test_app',
      /test_app may DELETE audit_log, which it does not need/,
    ],
    ['REVOKE INSERT ON posts FROM test_app', /test_app may not INSERT posts, which it needs/],
    ['GRANT UPDATE ON schema_objects TO test_app', /may change schema_objects, the record/],
  ]
  const database = await createOwnedDatabase(t)
  const before = await describeCatalogue(database)
  for (const [damage, problem] of damages) {
    await database.admin.query(damage)
    const found = await verifyDatabase(database.url, 'web', 'catalogue')
    t.match(found, [{ problem, remedy: /Run `gatehouse migrate`/ }], damage)
    t.equal(found.length, 1, damage)
    await migrate(database)
    t.strictSame(await describeCatalogue(database), before, damage)
    t.strictSame(await verifyDatabase(database.url, 'web', 'catalogue'), [], damage)
  }
})

t.test('another owner of a function is named; only a superuser can give it back', async (t) => {
  const database = await createOwnedDatabase(t)
  await database.admin.query('ALTER FUNCTION ticket_hash(bytea) OWNER TO postgres')
  t.match(await verifyDatabase(database.workerUrl, 'worker'), [
    {
      problem: /ticket_hash.* owner postgres instead of test_owner/,
      remedy: 'As a superuser: ALTER FUNCTION ticket_hash(bytea) OWNER TO test_owner;',
    },
  ])
  await t.rejects(migrate(database), { message: /must be owner of function ticket_hash/ })
})

t.test('a record that was changed by hand hides no changed function', async (t) => {
  const database = await createOwnedDatabase(t)
  await database.admin.query(
    `DO $$ BEGIN EXECUTE replace(pg_get_functiondef('session_user_id'::regproc), 'BEGIN', 'BEGIN -- x'); END $$;
     UPDATE schema_objects o SET facts = jsonb_set(jsonb_set(o.facts,
       '{facts,definition}', to_jsonb(md5(pg_get_functiondef(p.oid)))),
       '{facts,body}', to_jsonb(encode(sha256(convert_to(p.prosrc, 'UTF8')), 'hex')))
     FROM pg_proc p WHERE o.kind = 'function' AND o.name = p.oid::regprocedure::text`,
  )
  const problem = /session_user_id\(\) is not as prisma\/functions has it/
  t.match(await verifyDatabase(database.url, 'web'), [{ problem }])
})

t.test('a change of a function fails as a whole, and leaves the old ones', async (t) => {
  const database = await createOwnedDatabase(t)
  const before = await describeCatalogue(database)
  const broken = await withFunction(
    `CREATE FUNCTION extra() RETURNS integer LANGUAGE plpgsql AS $$ BEGIN RETURN 1; END $$;
     CREATE FUNCTION half() RETURNS integer LANGUAGE sql AS $$ SELECT missing_column $$;`,
  )
  const refusal = {
    message: /were not applied: .*missing_column/,
    remedy: /None of them was changed/,
  }
  await t.rejects(migrate(database, { definitions: broken }), refusal)
  t.strictSame(await describeCatalogue(database), before)
  t.strictSame(await verifyDatabase(database.url, 'web'), [])

  const name = '29990101000000_next'
  const migrations = [...(await readMigrations()), { name, sql: 'SELECT 1 / 0;' }]
  const definitions = await withFunction('CREATE FUNCTION extra() RETURNS integer RETURN 1;')
  await t.rejects(migrate(database, { migrations, definitions }), { message: /division by zero/ })
  t.strictSame(await describeCatalogue(database), before, 'a failed migration leaves them too')
  t.match(await migrate(database, { definitions }), { defined: true }, 'without the cause')
})

t.test('functions of the release before are dropped, those of others are not', async (t) => {
  const database = await createOwnedDatabase(t)
  await query(database.ownerUrl, 'CREATE FUNCTION of_others() RETURNS integer RETURN 1')
  const definitions = await withFunction('CREATE FUNCTION extra() RETURNS integer RETURN 1;')
  t.match(await migrate(database, { definitions }), { defined: true })
  t.match(await migrate(database), { defined: true })
  const { rows } = await database.admin.query(
    `SELECT to_regproc('extra') AS extra, to_regproc('of_others')::text AS others`,
  )
  t.strictSame(rows, [{ extra: null, others: 'of_others' }])
})

t.test('a function of the same name that no release made is a conflict', async (t) => {
  const database = await createOwnedDatabase(t)
  await query(database.ownerUrl, 'CREATE FUNCTION extra() RETURNS integer RETURN 7')
  const definitions = await withFunction(
    'CREATE OR REPLACE FUNCTION extra() RETURNS integer RETURN 1;',
  )
  const refusal = { message: /has a function extra\(\) that no release of Gatehouse created/ }
  await t.rejects(migrate(database, { definitions }), refusal)
  await t.rejects(migrate(database, { definitions }), OperatorError)
  t.strictSame(await query(database.ownerUrl, 'SELECT extra()'), [{ extra: 7 }])
  await query(database.ownerUrl, 'ALTER FUNCTION extra() RENAME TO extra_own')
  await migrate(database, { definitions })
  t.strictSame(await query(database.ownerUrl, 'SELECT extra(), extra_own()'), [
    { extra: 1, extra_own: 7 },
  ])
})

t.test('two runs at once replace the functions once', async (t) => {
  const database = await createOwnedDatabase(t)
  const definitions = await withFunction('CREATE FUNCTION extra() RETURNS integer RETURN 1;')
  const reports = await Promise.all([
    migrate(database, { definitions }),
    migrate(database, { definitions }),
  ])
  t.strictSame(reports.map(({ defined }) => defined).toSorted(), [false, true])
})

t.test('new policies and the right to call a new function become visible together', async (t) => {
  const database = await createOwnedDatabase(t)
  const observer = await database.admin.connect()
  await observer.query('BEGIN; LOCK TABLE schema_releases IN SHARE MODE')
  const definitions = await withFunction('CREATE FUNCTION extra() RETURNS integer RETURN 1;')
  const migrated = migrate(database, { definitions })
  const seen = `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()
    AND wait_event_type = 'Lock' AND query LIKE 'INSERT INTO schema_releases%') AS waits,
    to_regproc('extra') AS extra`
  await untilTrue(async () => {
    const { rows } = await database.admin.query(seen)
    t.equal(rows[0].extra, null)
    return rows[0].waits
  })
  await observer.query('ROLLBACK')
  observer.release()
  t.match(await migrated, { defined: true })
  t.strictSame((await database.admin.query(seen)).rows, [{ waits: false, extra: 'extra' }])
})

/** The files of this release with one more function. */
async function withFunction(sql: string): Promise<Definitions> {
  const { scripts } = await readDefinitions()
  return describe({ ...scripts, functions: [...scripts.functions, sql] })
}

/** Row-level security, policies, views, triggers, functions and privileges, as lines. */
async function describeCatalogue({ admin }: Pick<TestDatabase, 'admin'>): Promise<string[]> {
  const { rows } = await admin.query<{ line: string }>(
    `SELECT line FROM (
       SELECT concat_ws(' ', 'table', oid::regclass, relrowsecurity, relforcerowsecurity,
         (SELECT array_agg(acl::text ORDER BY acl::text) FROM unnest(relacl) acl))
       FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v')
       UNION ALL SELECT concat_ws(' ', 'policy', polrelid::regclass, polname, polcmd, polpermissive,
         polroles, pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)) FROM pg_policy
       UNION ALL SELECT concat_ws(' ', 'view', oid::regclass, reloptions, pg_get_viewdef(oid))
         FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'v'
       UNION ALL SELECT concat_ws(' ', 'trigger', pg_get_triggerdef(oid), tgenabled) FROM pg_trigger
         WHERE NOT tgisinternal
       UNION ALL SELECT concat_ws(' ', 'function', oid::regprocedure, proowner::regrole, prosecdef,
         proconfig, provolatile, md5(pg_get_functiondef(oid)),
         (SELECT array_agg(acl::text ORDER BY acl::text)
          FROM unnest(coalesce(proacl, acldefault('f', proowner))) acl))
       FROM pg_proc WHERE pronamespace = 'public'::regnamespace
     ) AS lines (line) ORDER BY line`,
  )
  return rows.map(({ line }) => line)
}
