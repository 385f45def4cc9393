import pg from 'pg'
import t from 'tap'
import { logins } from '#dev/testing/logins.ts'
import { createUser } from '#dev/testing/people.ts'
import { callerFunctions } from '#src/schema/tables.ts'
import {
  listFunctions,
  verifyFunctions,
  withoutSpaces,
} from '#src/schema/verification/verify-functions.ts'
import { addOperator } from '#test/support/app/app.ts'
import { addIdentity } from '#test/support/callers/account.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import {
  addApp,
  addJob,
  addPortal,
  addService,
  addSession,
  addToken,
  connect,
  idleSeconds,
  inside,
  randomCredential,
  refusalOf,
} from './credentials.ts'

const denied = '42501'
const { app, worker } = { app: logins.app.name, worker: logins.worker.name }

t.test('the functions are as the migrations make them', async (t) => {
  const database = await createDatabase(t)
  for (const duty of ['web', 'worker'] as const) {
    const client = await connect(t, duty === 'web' ? database.url : database.workerUrl)
    await client.query('BEGIN')
    t.strictSame(await verifyFunctions(client, duty), [], duty)
  }
})

t.test('an expired session ends, switches and links nothing', async (t) => {
  const database = await createDatabase(t)
  const client = await connect(t, database.url)
  const user = await createUser(database, { role: 'admin' })
  const { rows } = await database.admin.query('SELECT name FROM tenants WHERE id = $1', [
    user.tenantId,
  ])
  const calls: [string, unknown[]][] = [
    ['SELECT outcome FROM switch_tenant($1, $2, $3)', [randomCredential(), user.tenantId]],
    ['SELECT outcome FROM leave_tenant($1, $2, $3)', [randomCredential(), user.tenantId]],
    ['SELECT outcome FROM delete_tenant($1, $2, $3)', [randomCredential(), rows[0]?.name]],
    ['SELECT outcome FROM erase_account($1)', []],
    [
      `SELECT start_attempt($1, sha256('state'), 'link', 'demo', 'n', 'v', 'b', '127.0.0.1', 600) AS outcome`,
      [],
    ],
  ]
  for (const [text, values] of calls) {
    const outcomeOf = async (options: { expired?: boolean }) => {
      const credential = await addSession(database, user, options)
      const { rows } = await inside(client, () => client.query(text, [credential, ...values]))
      return rows[0]?.outcome
    }
    const outcome = await outcomeOf({ expired: true })
    t.ok(outcome === 'session-ended' || outcome === false, `${text}: ${outcome}`)
    t.not(await outcomeOf({}), outcome, 'a live one does it, or is refused for another reason')
  }
})

t.test('what has expired keeps its time when it is ended', async (t) => {
  const database = await createDatabase(t)
  const { admin } = database
  const client = await connect(t, database.url)
  const user = await createUser(database, { role: 'admin' })
  await addIdentity({ database }, user.userId, 'runs-it')
  await addOperator(database, 'demo:runs-it')
  const [session, app] = [await addSession(database, user), await addApp(database)]
  for (const expired of [false, true]) {
    await addSession(database, user, { expired })
    await addToken(database, user, { expired })
    await addService(database, user, { expired })
    await addApp(database, { expired })
    await addPortal(database, user.tenantId, { app, seconds: expired ? -1 : 300 })
  }
  const timesOf = async (table: string) => {
    const sql = `SELECT id, expires_at::text AS until, expires_at > now() AS is_live FROM ${table} ORDER BY id`
    return (await admin.query<{ id: string; until: string; is_live: boolean }>(sql)).rows
  }
  for (const [enter, values, tables] of [
    ['enter_app_token($1, $2, true)', [app, user.tenantId], ['portal_sessions']],
    [
      `enter_session($1, ${idleSeconds}, true)`,
      [session],
      ['service_tokens', 'app_tokens', 'api_tokens', 'sessions'],
    ],
  ] as const) {
    for (const table of tables) {
      const before = await timesOf(table)
      await client.query('BEGIN')
      await client.query(`SELECT FROM ${enter}`, [...values])
      const ids = before.map(({ id }) => id)
      await client.query('SELECT expire_credentials($1::uuid[])', [ids])
      await client.query('COMMIT')
      const after = await timesOf(table)
      // With a later time it would be live again for a transaction that has begun before.
      const expired = before.filter(({ is_live }) => !is_live)
      t.equal(expired.length, 1, table)
      t.strictSame(
        after.filter(({ id }) => expired.some((one) => one.id === id)),
        expired,
        table,
      )
      t.notOk(
        after.some(({ is_live }) => is_live),
        table,
      )
    }
  }
})

t.test('each thing that opens the scope is found', async (t) => {
  const broken: [string, string][] = [
    [`ALTER FUNCTION enter_session OWNER TO postgres`, 'owner of the tables'],
    [`ALTER FUNCTION enter_token RESET search_path`, 'no fixed search_path'],
    [`ALTER FUNCTION current_user_id SET search_path = public`, 'no fixed search_path'],
    [`ALTER FUNCTION current_tenant_id SECURITY INVOKER`, 'not SECURITY DEFINER'],
    [`GRANT EXECUTE ON FUNCTION enter_session TO PUBLIC`, 'Everyone may call'],
    [`GRANT EXECUTE ON FUNCTION enter_job TO ${app}`, 'is for another role'],
    [`REVOKE EXECUTE ON FUNCTION enter_token FROM ${app}`, 'which it needs'],
    [`DROP FUNCTION remember_logout`, 'is missing'],
    [`GRANT SELECT (created_at) ON scope_keys TO ${app}`, 'rights on the keys'],
    [`GRANT INSERT ON scope_keys TO ${app}`, 'rights on the keys'],
    [`ALTER TABLE scope_keys DISABLE ROW LEVEL SECURITY`, 'not closed'],
    [`CREATE POLICY open ON scope_keys USING (true)`, 'not closed'],
    [
      `CREATE OR REPLACE FUNCTION verified_scope() RETURNS text[] LANGUAGE sql STABLE
         RETURN string_to_array(current_setting('app.scope', true), ':')`,
      'without a valid seal is accepted',
    ],
    [
      `CREATE FUNCTION back_door() RETURNS int LANGUAGE sql SECURITY DEFINER RETURN 1`,
      'through back_door()',
    ],
    [
      `CREATE SCHEMA side; GRANT USAGE ON SCHEMA side TO ${app};
       CREATE FUNCTION side.door() RETURNS int LANGUAGE sql SECURITY DEFINER RETURN 1`,
      'through side.door()',
    ],
  ]
  const database = await createDatabase(t)
  const admin = await connect(t, database.superuserUrl)
  for (const [sql, problem] of broken) {
    await inside(admin, async () => {
      await admin.query(sql)
      await admin.query(`SET LOCAL ROLE ${app}`)
      const flaws = await verifyFunctions(admin, 'web')
      t.match(flaws.map((flaw) => flaw.problem).join('\n'), problem, sql)
      await admin.query('ROLLBACK')
    })
  }
})

t.test('a role calls what is for it and nothing else of the owner', async (t) => {
  const database = await createDatabase(t)
  const { rows } = await database.admin.query<{ name: string; web: boolean; worker: boolean }>(
    `SELECT p.oid::regprocedure::text AS name,
       has_function_privilege($1, p.oid, 'EXECUTE') AS web,
       has_function_privilege($2, p.oid, 'EXECUTE') AS worker
     FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace ORDER BY 1`,
    [app, worker],
  )
  const callable = (duty: 'web' | 'worker') =>
    rows.filter((row) => row[duty]).map(({ name }) => name)
  const forAll = callerFunctions.map(withoutSpaces)
  t.strictSame(callable('web'), [...listFunctions(['web']), ...forAll].sort())
  t.strictSame(callable('worker'), [...listFunctions(['worker']), ...forAll].sort())
  const { rows: powers } = await database.admin.query(
    `SELECT p.oid::regprocedure::text AS name FROM pg_proc p
     WHERE p.prosecdef AND p.oid::regprocedure::text = ANY ($1)`,
    [forAll],
  )
  t.same(powers, [], 'what everyone may call runs as its caller')
  t.ok(
    rows.some(({ name }) => name.startsWith('set_scope(')),
    'the owner keeps more to itself',
  )
})

t.test('neither role enters as the other one does', async (t) => {
  const database = await createDatabase(t)
  const user = await createUser(database, { billingCustomer: 'cus_1' })
  const credential = await addSession(database, user)
  const job = await addJob(database, 'deliver', { tenantId: user.tenantId })
  const forWorker: [string, unknown[]][] = [
    ['SELECT enter_job($1, $2)', ['deliver', job]],
    ['SELECT enter_billing_event($1, $2, NULL)', ['evt_1', 'cus_1']],
    ['SELECT rotate_scope_key()', []],
    ['SELECT adopt_installation()', []],
    ['SELECT find_revocation($1)', [job]],
    ['SELECT prune_dead(0, 0, 10)', []],
    ['SELECT claim_customer($1, $2, NULL)', ['cus_1', user.userId]],
    ['SELECT former_customer($1, NULL, $2)', [user.userId, '.']],
    ['SELECT * FROM count_customers($1)', ['.']],
    ['SELECT leading_subscription($1)', ['cus_1']],
  ]
  const forWeb: [string, unknown[]][] = [
    ['SELECT enter_session($1, 1800, false)', [credential]],
    ['SELECT enter_token($1, false)', [credential]],
    ['SELECT enter_attempt($1)', [credential]],
    ['SELECT enter_identity($1)', ['ada']],
    ['SELECT find_grant($1, $2, 0)', ['demo', 'ada']],
    ['SELECT dismiss_event($1, $2)', ['evt_1', 'a reason']],
    ['SELECT customer_is_free($1)', ['cus_1']],
  ]
  const forNobody: [string, unknown[]][] = [
    [`SELECT set_scope('session', '', $1, $2)`, [user.userId, user.tenantId]],
    [`SELECT scope_seal('x', 'y')`, []],
    ['SELECT verified_scope()', []],
    [`SELECT current_attempt('sign-in')`, []],
    ['SELECT key FROM scope_keys', []],
    ['SELECT FROM scope_keys', []],
    [`INSERT INTO scope_keys (key) VALUES (sha256('x'))`, []],
    ['UPDATE scope_keys SET key = key', []],
    ['DELETE FROM scope_keys', []],
    ['SELECT id_hash FROM sessions', []],
    ['SELECT hash FROM api_tokens', []],
    [`SELECT touch_token('users', $1)`, [credential]],
    ['SELECT FROM sign_in_attempts', []],
    ['SELECT FROM logout_tokens', []],
    ['UPDATE sessions SET expires_at = now()', []],
    [`INSERT INTO sessions (id_hash, expires_at) VALUES (sha256('x'), now())`, []],
    [`INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'admin')`, values(user)],
    [`CREATE OR REPLACE FUNCTION current_user_id() RETURNS bigint LANGUAGE sql RETURN 1`, []],
    ['ALTER FUNCTION enter_session SECURITY INVOKER', []],
  ]
  const web = await connect(t, database.url)
  const workerClient = await connect(t, database.workerUrl)
  for (const [client, name, statements] of [
    [web, 'web', [...forWorker, ...forNobody]],
    [workerClient, 'worker', [...forWeb, ...forNobody]],
  ] as const) {
    for (const [sql, parameters] of statements) {
      const refusal = await refusalOf(client.query(sql, parameters))
      t.equal(refusal, denied, `${name}: ${sql}`)
    }
  }
})

t.test('names in front of the real ones change nothing', async (t) => {
  const database = await createDatabase(t)
  const user = await createUser(database)
  const credential = await addSession(database, user, { expired: true })
  const web = await connect(t, database.url)
  await web.query(`CREATE TEMPORARY TABLE sessions (id uuid, id_hash bytea, user_id bigint,
    tenant_id uuid, provider text, expires_at timestamptz, last_seen_at timestamptz,
    authenticated_at timestamptz)`)
  await web.query(`CREATE TEMPORARY TABLE scope_keys (id integer, key bytea)`)
  await web.query(
    `INSERT INTO pg_temp.sessions VALUES (gen_random_uuid(), sha256($1), $2, $3, 'demo',
       'infinity', 'infinity', now())`,
    [credential, user.userId, user.tenantId],
  )
  await web.query('SET search_path = pg_temp, public')
  const { rows } = await web.query('SELECT * FROM public.enter_session($1, 1800, false)', [
    credential,
  ])
  t.strictSame(rows, [])
})

function values(user: { tenantId: string; userId: number }): unknown[] {
  return [user.tenantId, user.userId]
}

t.test('without a credential no role sees or changes a row of a person or tenant', async (t) => {
  const database = await createDatabase(t)
  await fill(database)
  const { rows: tables } = await database.admin.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace
       AND relkind = 'r' AND relrowsecurity ORDER BY 1`,
  )
  t.ok(tables.length > 20)
  for (const url of [database.url, database.workerUrl]) {
    const client = await connect(t, url)
    for (const { name } of tables) {
      const table = pg.escapeIdentifier(name)
      for (const sql of [`SELECT count(*)::int AS n FROM ${table}`, `DELETE FROM ${table}`]) {
        const outcome = await inside(client, () => client.query(sql)).then(
          ({ rows, rowCount }) => rows[0]?.n ?? rowCount,
          (error) => error.code,
        )
        t.ok(outcome === 0 || outcome === denied, `${sql}: ${outcome}`)
      }
    }
  }
})

async function fill(database: TestDatabase): Promise<void> {
  const user = await createUser(database, { email: 'ada@example.com', emailVerified: true })
  await addSession(database, user)
  await database.admin.query(
    `INSERT INTO oauth_identities (provider, provider_user_id, user_id, issuer)
     VALUES ('demo', 'ada', $1, 'i')`,
    [user.userId],
  )
  await database.admin.query(
    `INSERT INTO provider_grants (provider, provider_user_id, access_token, scope)
     VALUES ('demo', 'ada', '', '')`,
  )
  await database.admin.query(
    `INSERT INTO token_revocations (provider, provider_user_id, user_id, token, kind, status)
     VALUES ('demo', 'ada', $1, '', 'access_token', 'revoking')`,
    [user.userId],
  )
  await database.admin.query(
    `INSERT INTO invitations (tenant_id, email, role, expires_at)
     VALUES ($1, 'eve@example.com', 'viewer', now() + interval '1 day')`,
    [user.tenantId],
  )
  await database.admin.query(
    `INSERT INTO audit_log (action, outcome, user_id, tenant_id) VALUES ('x', 'y', $1, $2)`,
    [user.userId, user.tenantId],
  )
}
