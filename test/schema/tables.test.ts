import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { tablePrivileges } from '#src/schema/tables.ts'
import { attemptsAs, denied } from '#test/db/attempt.ts'
import { createDatabase } from '#test/support/database/database.ts'

t.test('every table has an entry in tablePrivileges, and every entry a table', async (t) => {
  const database = await createDatabase(t)
  const { rows } = await database.admin.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm')`,
  )
  t.strictSame(
    Object.keys(tablePrivileges).toSorted(),
    rows.map(({ name }) => name).toSorted(),
    'src/schema/tables.ts has a line for each table and no other',
  )
})

t.test('neither role can exceed its privileges', async (t) => {
  const database = await createDatabase(t)
  const user = await createUser(database)
  await database.admin.query(
    `INSERT INTO audit_log (action, outcome, user_id, tenant_id) VALUES ('x', 'x', $1, $2)`,
    [user.userId, user.tenantId],
  )
  const forBoth = [
    'TRUNCATE posts',
    'ALTER TABLE posts ADD COLUMN extra text',
    'ALTER TABLE posts DISABLE ROW LEVEL SECURITY',
    'ALTER TABLE posts NO FORCE ROW LEVEL SECURITY',
    'DROP POLICY tenant_scope ON posts',
    'CREATE POLICY wide ON posts USING (true)',
    'DROP TABLE posts',
    'CREATE TABLE extra ()',
    'CREATE TABLE pgboss.extra ()',
    'CREATE VIEW extra AS SELECT 1',
    'CREATE FUNCTION extra() RETURNS int LANGUAGE sql RETURN 1',
    'CREATE SCHEMA extra',
    'CREATE ROLE extra',
    'ALTER ROLE CURRENT_USER BYPASSRLS',
    'SET ROLE test_owner',
    'SET SESSION AUTHORIZATION test_owner',
    'SET session_replication_role = replica',
    'SELECT FROM pg_authid',
    `SELECT pg_read_file('PG_VERSION')`,
    `COPY tenants TO PROGRAM 'true'`,
    'UPDATE oauth_identities SET user_id = 1',
    `UPDATE provider_grants SET provider_user_id = 'x'`,
    `UPDATE token_revocations SET provider_user_id = 'x'`,
    'UPDATE token_revocations SET user_id = 1',
    'UPDATE memberships SET user_id = 1',
    'UPDATE orders SET user_id = 1',
    'UPDATE team_members SET user_id = 1',
    'DELETE FROM team_members',
    'UPDATE folders SET tenant_id = tenant_id',
    'UPDATE documents SET team_id = 1',
    'UPDATE documents SET folder_id = 1',
    'DELETE FROM documents',
    'UPDATE audit_log SET outcome = outcome',
    'DELETE FROM audit_log',
    'UPDATE processed_events SET event_id = event_id',
    'DELETE FROM processed_events',
    'DELETE FROM received_events',
    'DELETE FROM invoices',
    'UPDATE invoices SET amount = 0',
    'UPDATE _prisma_migrations SET checksum = checksum',
    'UPDATE outbound_events SET body = body',
    'UPDATE deliveries SET event_id = event_id',
    'UPDATE delivery_attempts SET error = error',
    'DELETE FROM delivery_attempts',
    'DELETE FROM deliveries',
    'DELETE FROM notifications',
  ]
  const forApp = [
    `UPDATE users SET plan = 'pro'`,
    'UPDATE users SET own_tenant_id = NULL',
    `UPDATE users SET billing_customer = 'cus_x'`,
    'SELECT FROM users FOR UPDATE',
    `UPDATE received_events SET status = 'processed'`,
    `UPDATE received_events SET body = ''`,
    `INSERT INTO invoices (tenant_id, amount, currency, status) VALUES ('${user.tenantId}', 1, 'eur', 'paid')`,
    'UPDATE sessions SET user_id = 1',
    'UPDATE sessions SET tenant_id = NULL',
    'UPDATE sessions SET expires_at = now()',
    'UPDATE sessions SET last_seen_at = now()',
    'SELECT id_hash FROM sessions',
    'SELECT provider_session FROM sessions',
    `INSERT INTO sessions (id_hash, expires_at) VALUES (sha256('x'), now())`,
    'SELECT hash FROM api_tokens',
    'UPDATE api_tokens SET permissions = NULL',
    'SELECT hash FROM service_tokens',
    'UPDATE service_tokens SET tenant_id = gen_random_uuid()',
    'UPDATE service_tokens SET created_by = NULL',
    'UPDATE service_tokens SET last_used_at = NULL',
    'SELECT hash FROM app_tokens',
    'SELECT hash FROM portal_sessions',
    'UPDATE portal_sessions SET expires_at = now()',
    'UPDATE portal_sessions SET opened_at = now()',
    'UPDATE app_tokens SET created_by = NULL',
    'UPDATE app_tokens SET last_used_at = NULL',
    `INSERT INTO operators (provider, provider_user_id) VALUES ('demo', 'me')`,
    'DELETE FROM operators',
    'DELETE FROM app_event_types',
    'DELETE FROM idempotency_keys',
    `UPDATE idempotency_keys SET holder = 'x'`,
    'SELECT FROM sign_in_attempts',
    'DELETE FROM sign_in_attempts',
    'SELECT FROM logout_tokens',
    'SELECT FROM scope_keys',
    'INSERT INTO users DEFAULT VALUES',
    'DELETE FROM users',
    `UPDATE users SET email = 'x'`,
    `INSERT INTO tenants (id, name) VALUES (gen_random_uuid(), 'x')`,
    'UPDATE tenants SET created_at = now()',
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ('${user.tenantId}', ${user.userId}, 'admin')`,
    `INSERT INTO oauth_identities (provider, provider_user_id, user_id, issuer) VALUES ('x', 'x', ${user.userId}, 'x')`,
    'UPDATE sign_in_attempts SET user_id = 1',
    `UPDATE sign_in_attempts SET purpose = 'link'`,
    'UPDATE api_tokens SET user_id = 1',
    'UPDATE api_tokens SET all_permissions = true',
    'UPDATE api_tokens SET expires_at = now()',
    `UPDATE invitations SET email = 'x@y.z'`,
    `UPDATE token_revocations SET token = ''`,
    'UPDATE pgboss.job SET priority = 1',
    'DELETE FROM pgboss.job',
    'DELETE FROM outbound_events',
    'UPDATE endpoint_states SET last_success_at = now()',
    'DELETE FROM endpoint_states',
    'DELETE FROM endpoint_probes',
    'UPDATE notifications SET mailed_at = now()',
  ]
  const forWorker = [
    'SELECT FROM scope_keys',
    'SELECT id_hash FROM sessions',
    'SELECT user_id FROM sessions',
    'SELECT FROM provider_grants',
    'SELECT FROM token_revocations',
    'SELECT FROM logout_tokens',
    'SELECT FROM tenant_members',
    'UPDATE memberships SET role = role',
    'DELETE FROM memberships',
    'UPDATE sessions SET last_seen_at = now()',
    'SELECT state_hash FROM sign_in_attempts',
    'SELECT code_verifier FROM sign_in_attempts',
    'SELECT hash FROM api_tokens',
    'SELECT name FROM api_tokens',
    'SELECT hash FROM service_tokens',
    'SELECT name FROM service_tokens',
    'SELECT name FROM app_tokens',
    'SELECT FROM portal_sessions',
    'DELETE FROM portal_sessions',
    'DELETE FROM app_tokens',
    `INSERT INTO app_event_types (name, description) VALUES ('x', 'x')`,
    'SELECT FROM idempotency_keys',
    'UPDATE api_tokens SET expires_at = now()',
    `UPDATE invitations SET role = 'admin'`,
    'DELETE FROM invitations',
    'DELETE FROM provider_grants',
    `UPDATE provider_grants SET status = 'active'`,
    'SELECT FROM oauth_identities',
    'SELECT FROM orders',
    'SELECT FROM posts',
    'SELECT FROM teams',
    'SELECT FROM team_members',
    'SELECT FROM folders',
    'SELECT FROM documents',
    'SELECT FROM audit_log',
    'INSERT INTO users DEFAULT VALUES',
    `UPDATE users SET email = 'x'`,
    `UPDATE webhook_endpoints SET url = 'https://elsewhere.example'`,
    `INSERT INTO webhook_endpoints (tenant_id, url, signature, secret)
     VALUES ('${user.tenantId}', 'https://elsewhere.example', 'spec', '')`,
    'DELETE FROM webhook_endpoints',
    'DELETE FROM endpoint_states',
    'SELECT FROM endpoint_probes',
  ]
  const roles = [
    ['app', database.url, [...forBoth, ...forApp]],
    ['worker', database.workerUrl, [...forBoth, ...forWorker]],
  ] as const
  for (const [role, url, statements] of roles) {
    const attempt = await attemptsAs(t, database, url)
    for (const sql of statements) t.match(await attempt(user, sql), denied, `${role}: ${sql}`)
  }
})

t.test('the audit log is append-only', async (t) => {
  const database = await createDatabase(t)
  for (const url of [database.url, database.workerUrl]) {
    const attempt = await attemptsAs(t, database, url)
    const append = `INSERT INTO audit_log (action, outcome) VALUES ('x', 'x')`
    t.match(await attempt({}, append), { rows: 1 })
    t.match(await attempt({}, `UPDATE audit_log SET outcome = 'y'`), denied)
    t.match(await attempt({}, 'DELETE FROM audit_log'), denied)
    t.match(await attempt({}, 'TRUNCATE audit_log'), denied)
  }
})
