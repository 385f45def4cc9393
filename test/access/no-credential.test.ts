import { createHash, randomUUID } from 'node:crypto'
import pg from 'pg'
import t, { type Test } from 'tap'
import { createUser, type TestUser } from '#dev/testing/people.ts'
import { functionPrivileges } from '#src/schema/tables.ts'
import { digestOf } from '#test/access/matrix/trace.ts'
import { receive } from '#test/billing/received.ts'
import {
  addApp,
  addJob,
  addPortal,
  addSession,
  addToken,
  connect,
  enterSession,
  enterToken,
  inside,
  randomCredential,
  refusalOf,
  scopeOf,
} from '#test/db/credentials.ts'
import type { Description } from '#test/resources/description.ts'
import { descriptions } from '#test/resources/index.ts'
import {
  chained,
  closed,
  giveRow,
  insertion,
  ofUsers,
  parentsOf,
  samples,
} from '#test/schema/table-rows.ts'
import { createChain } from '#test/support/callers/chain.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'

const denied = '42501'

/*
 * What SQL of the application roles reaches when no credential has opened the transaction. Everything
 * that it does reach is listed here by name, and in docs/security.md.
 */

/** Tables that belong to no tenant; a job of the queue names its tenant by id. */
/** Open without a scope, and not with one that is not sealed in this transaction. */
const appended = 'INSERT audit_log'
const forged = [
  'a word',
  'colons',
  'user and tenant',
  'a made-up seal',
  'the seal of an earlier transaction',
  'the seal of another backend',
  'a seal of another user',
  'a seal of another tenant',
  'a seal with the time and backend of this transaction',
]

const openToWeb = [
  'DELETE running_processes',
  'INSERT audit_log',
  'INSERT billing_reconciliations',
  'INSERT billing_replays',
  'INSERT processed_events',
  'INSERT received_events',
  'INSERT running_processes',
  'SELECT _prisma_migrations',
  'SELECT app_event_types',
  'SELECT billing_reconciliations',
  'SELECT billing_replays',
  'SELECT ledger_checks',
  'SELECT pgboss.job_common',
  'SELECT processed_events',
  'SELECT received_events',
  'SELECT running_processes',
  'SELECT schema_objects',
  'SELECT schema_releases',
  'UPDATE app_event_types',
  'UPDATE received_events',
  'UPDATE running_processes',
]
const openToWorker = [
  'DELETE billing_reconciliations',
  'DELETE billing_replays',
  'DELETE ledger_checks',
  'DELETE operators',
  'DELETE pgboss.job_common',
  'DELETE running_processes',
  'INSERT audit_log',
  'INSERT billing_objects',
  'INSERT billing_reconciliations',
  'INSERT ledger_checks',
  'INSERT processed_events',
  'INSERT received_events',
  'INSERT running_processes',
  'SELECT _prisma_migrations',
  'SELECT billing_objects',
  'SELECT billing_reconciliations',
  'SELECT billing_replays',
  'SELECT ledger_checks',
  'SELECT operators',
  'SELECT pgboss.job_common',
  'SELECT processed_events',
  'SELECT received_events',
  'SELECT running_processes',
  'SELECT schema_objects',
  'SELECT schema_releases',
  'UPDATE billing_objects',
  'UPDATE billing_reconciliations',
  'UPDATE billing_replays',
  'UPDATE ledger_checks',
  'UPDATE pgboss.job_common',
  'UPDATE received_events',
  'UPDATE running_processes',
]

t.test(
  'SQL of the web role without a live credential reaches no row of a person or tenant',
  async (t) => {
    const { database, ada, eve } = await world(t)
    const web = await connect(t, database.url)
    const statements = await statementsOf(database, ada)
    const credential = await addSession(database, ada)
    const sealed = await inside(web, async () => {
      await enterSession(web, credential)
      return readSetting(web)
    })
    const neighbour = await connect(t, database.url)
    await neighbour.query('SET idle_in_transaction_session_timeout = 0')
    await neighbour.query('BEGIN READ ONLY')
    await enterSession(neighbour, credential)
    const foreignSeal = await readSetting(neighbour)
    const { rows: stored } = await database.admin.query<{ hash: Buffer }>(
      'SELECT id_hash AS hash FROM sessions WHERE user_id = $1',
      [ada.userId],
    )
    // It has to be past before the transaction begins.
    const expired = await addToken(database, ada, { expired: true })
    const storedHash = stored[0]?.hash ?? Buffer.alloc(32)
    const set = (setting: string) => () => setScope(web, setting)
    const situations: [string, () => Promise<unknown>][] = [
      ['nothing at all', async () => {}],
      [
        'the settings of former releases',
        () =>
          web.query(
            `SELECT set_config('app.user_id', $1, true), set_config('app.tenant_id', $2, true)`,
            [String(ada.userId), ada.tenantId],
          ),
      ],
      ['a word', set('x')],
      ['colons', set(':::::::')],
      ['user and tenant', set(`1:session::${ada.userId}:${ada.tenantId}`)],
      ['a made-up seal', async () => setScope(web, await madeUp(web, ada, randomCredential()))],
      ['the seal of an earlier transaction', set(sealed)],
      ['the seal of another backend', set(foreignSeal)],
      ['a seal of another user', set(sealed.replace(`:${ada.userId}:`, `:${eve.userId}:`))],
      ['a seal of another tenant', set(sealed.replace(ada.tenantId, eve.tenantId))],
      [
        'a seal with the time and backend of this transaction',
        async () => {
          const fields = sealed.split(':')
          const { pid, at } = await transactionOf(web)
          fields.splice(5, 2, String(pid), at)
          await setScope(web, fields.join(':'))
        },
      ],
      ['a random session', () => enterSession(web, randomCredential())],
      ['a random token', () => enterToken(web, randomCredential())],
      ['what the table of sessions stores', () => enterSession(web, storedHash)],
      ['what the cookie hashes to twice', () => enterSession(web, sha256(credential))],
      ['a session past its limit', await entering(database, web, ada, { expired: true })],
      ['a session that was not used', await entering(database, web, ada, { idleSeconds: 1_801 })],
      ['an anonymous session', await entering(database, web, null, {})],
      ['a token past its limit', () => enterToken(web, expired)],
      [
        'a session in a savepoint that is taken back',
        async () => {
          await web.query('SAVEPOINT before')
          await enterSession(web, credential)
          await web.query('ROLLBACK TO before')
        },
      ],
    ]
    for (const [name, prepare] of situations) {
      // An entry of the audit log names the service of the scope, so a forged scope fails there too.
      const expected = forged.includes(name)
        ? openToWeb.filter((one) => one !== appended)
        : openToWeb
      t.strictSame(await touchedBy(web, statements, prepare), expected, name)
    }
    await neighbour.query('ROLLBACK')
    const live = await touchedBy(web, statements, () => enterSession(web, credential))
    t.ok(live.length > openToWeb.length + 30, `with a live session ${live.length} statements do`)
  },
)

t.test('functions that do something without a credential are those of signing in', async (t) => {
  const { database, ada } = await world(t)
  const { admin } = database
  const homes: Record<string, [unknown[], Outcome]> = {}
  for (const { name, table } of descriptions.filter(publishesAtHome)) {
    const { rows } = await admin.query(`SELECT id FROM ${table} WHERE user_id = $1`, [ada.userId])
    homes[`enter_${name.replaceAll('-', '_')}_tenant`] = [[rows[0]?.id], 'refused']
  }
  const attempt = randomUUID()
  const key = () => randomCredential()
  const { rows: sessions } = await admin.query(
    'SELECT id, provider FROM sessions WHERE user_id = $1',
    [ada.userId],
  )
  const { rows: members } = await admin.query(
    'SELECT u.email, u.plan, m.role, m.department FROM memberships m JOIN users u ON u.id = m.user_id WHERE u.id = $1',
    [ada.userId],
  )
  const { email, plan, role, department } = members[0]
  const ofAda = [ada.userId, email, plan, ada.tenantId, role, department]
  /** The arguments of somebody who knows every id, address, subject and fact, but no secret. */
  const calls: Record<string, [unknown[], Outcome]> = {
    current_user_id: [[], 'nothing'],
    current_tenant_id: [[], 'nothing'],
    current_webhook_tenant_id: [[], 'nothing'],
    current_scope_kind: [[], 'nothing'],
    current_service_id: [[], 'nothing'],
    current_key_holder: [[], 'nothing'],
    current_idempotency_holder: [[], 'nothing'],
    current_service_name: [[], 'nothing'],
    is_manager: [[], 'nothing'],
    enter_session: [[key(), 1_800, true], 'nothing'],
    enter_token: [[key(), true], 'nothing'],
    enter_service: [[key(), true], 'nothing'],
    enter_app_token: [[key(), ada.tenantId, true], 'nothing'],
    enter_portal_session: [[key(), true], 'nothing'],
    find_portal_link: [[key()], 'nothing'],
    open_portal_link: [[key(), key(), key()], 'nothing'],
    enter_session_as: [
      [key(), 1_800, sessions[0].id, ...ofAda, sessions[0].provider, null],
      'refused',
    ],
    enter_token_as: [[key(), attempt, null, ...ofAda], 'refused'],
    enter_service_as: [[key(), attempt, 'ci', ['post:read'], ada.tenantId], 'refused'],
    enter_app_token_as: [[key(), attempt, 'ci', ['event:publish'], ada.tenantId], 'refused'],
    touch_session: [[key()], 'nothing'],
    touch_token: [['api_tokens', key()], 'nothing'],
    switch_tenant: [[key(), key(), ada.tenantId], 'nothing'],
    ...homes,
    start_attempt: [[key(), key(), 'sign-in', 'demo', 'n', 'v', null, null, 60, '/'], 'acts'],
    take_attempt: [[key(), key(), key()], 'nothing'],
    enter_attempt: [[key()], 'nothing'],
    look_up_identity: [['ada', 'ada@example.com', []], 'refused'],
    look_up_admission: [['ada@example.com', key()], 'refused'],
    enter_identity: [['ada'], 'refused'],
    link_by_address: [['new', 'issuer', 'ada@example.com', []], 'refused'],
    create_user: [['new', 'issuer', 'new@example.com', 'New'], 'refused'],
    apply_role_map: [[ada.tenantId, 'admin'], 'refused'],
    prove_address: [['ada@example.com'], 'refused'],
    link_identity: [['new', 'issuer'], 'refused'],
    record_verified_email: [['ada', 'ada@example.com'], 'refused'],
    record_profile: [['Ada', 'de'], 'refused'],
    start_session: [[key(), 'ada', null, null, null, 3_600, 1], 'refused'],
    renew_session: [[key(), 'ada', null, 3_600, 1], 'refused'],
    lock_current_user: [[], 'nothing'],
    is_first_user: [[], 'refused'],
    is_operator: [[], 'nothing'],
    own_invitations: [[attempt, key()], 'nothing'],
    accept_invitation: [[attempt, key()], 'refused'],
    decline_invitation: [[attempt, key()], 'refused'],
    lock_members: [[ada.tenantId, ada.userId], 'nothing'],
    change_member: [[ada.tenantId, ada.userId, 'viewer', null], 'nothing'],
    remove_member: [[ada.userId], 'refused'],
    remove_team_member: [[ada.tenantId, 1, ada.userId], 'nothing'],
    place_folder: [[1, 1, null, null, null, new Date()], 'refused'],
    create_tenant: [['Another', 100], 'refused'],
    leave_tenant: [[key(), key(), ada.tenantId], 'nothing'],
    erase_account: [[key()], 'nothing'],
    expire_credentials: [[[randomUUID()]], 'nothing'],
    delete_tenant: [[key(), key(), 'Tenant'], 'nothing'],
    delete_endpoint: [[ada.tenantId, attempt], 'nothing'],
    export_own: [['profile', null, null, 10], 'refused'],
    link_customer: [['cus_eve', ada.userId, null, null], 'refused'],
    customer_is_free: [['cus_eve'], 'refused'],
    list_customers: [[null, 10], 'refused'],
    list_double_payers: [[10], 'refused'],
    own_subscriptions: [[], 'nothing'],
    tenant_billing: [[null], 'nothing'],
    list_subscriptions: [[null, 10], 'refused'],
    dismiss_event: [['evt_1', 'x'], 'refused'],
    own_unaccounted: [[], 'nothing'],
    unaccounted_tenants: [[10], 'refused'],
    measure_due_attempts: [[10], 'acts'], // counts, of all tenants together
    // A provider ends sessions, and refreshes its tokens, while no session of ours is at hand.
    remember_logout: [['demo', key(), 60], 'acts'],
    end_provider_sessions: [['demo', null, 'ada'], 'acts'],
    find_grant: [['demo', 'ada', 60], 'acts'],
    mark_refresh: [['demo', 'ada', 1, attempt], 'acts'],
    store_refreshed: [['demo', 'ada', attempt, Buffer.from('x'), null, '', 60], 'acts'],
    end_refresh: [['demo', 'ada', attempt, true], 'nothing'],
    clear_refresh: [['demo', 'ada', attempt], 'nothing'],
    retire_late_token: [['demo', 'ada', ada.userId, Buffer.from('x')], 'acts'],
  }
  const granted = functionPrivileges.web.map((signature) => signature.replace(/\(.*$/, ''))
  t.strictSame(Object.keys(calls).toSorted(), granted.toSorted(), 'every function is called')
  const web = await connect(t, database.url)
  for (const [name, [values, expected]] of Object.entries(calls)) {
    const before = await digestOf(database)
    const outcome = await call(web, name, values)
    const changed = (await digestOf(database)) !== before
    t.equal(changed ? 'acts' : outcome, expected, name)
  }
  const portal = await addPortal(database, ada.tenantId)
  for (const [name, [values, expected]] of Object.entries(calls)) {
    if (expected === 'acts') continue
    await web.query('BEGIN')
    await web.query('SELECT FROM enter_portal_session($1, true)', [portal])
    const outcome = await call(web, name, values)
    await web.query('ROLLBACK')
    const own = tellingOfPortal.includes(name) ? 'acts' : expected
    t.equal(outcome, own, `${name} in a portal session`)
  }
})

/** They tell a portal session who it is. */
const tellingOfPortal = [
  'current_webhook_tenant_id',
  'current_scope_kind',
  'current_service_id',
  'current_key_holder',
  'current_idempotency_holder',
  'current_service_name',
]

t.test(
  'what remains: SQL of the web role can sign in as somebody no provider vouched for',
  async (t) => {
    const { database, ada } = await world(t)
    const web = await connect(t, database.url)
    const [cookie, state, ticket] = [randomCredential(), randomCredential(), randomCredential()]
    await web.query(`SELECT start_attempt($1, $2, 'sign-in', 'demo', '', '', NULL, NULL, 60)`, [
      cookie,
      state,
    ])
    await web.query('SELECT take_attempt($1, $2, $3)', [cookie, state, ticket])
    await inside(web, async () => {
      await web.query('SELECT enter_attempt($1)', [ticket])
      await web.query(`SELECT enter_identity('ada')`)
      await web.query(`SELECT start_session($1, 'ada', NULL, NULL, NULL, 60, 1)`, [
        randomCredential(),
      ])
      t.strictSame(await scopeOf(web), { userId: ada.userId, tenantId: ada.tenantId })
    })
  },
)

const ofPortal = [
  'INSERT deliveries',
  'INSERT delivery_attempts',
  'INSERT due_attempts',
  'INSERT endpoint_probes',
  'INSERT endpoint_replays',
  'INSERT endpoint_states',
  'INSERT outbound_events',
  'INSERT webhook_endpoints',
  'SELECT deliveries',
  'SELECT delivery_attempts',
  'SELECT due_attempts',
  'SELECT endpoint_probes',
  'SELECT endpoint_replays',
  'SELECT endpoint_states',
  'SELECT notifications',
  'SELECT outbound_events',
  'SELECT webhook_endpoints',
  'UPDATE deliveries',
  'UPDATE due_attempts',
  'UPDATE endpoint_probes',
  'UPDATE endpoint_replays',
  'UPDATE endpoint_states',
  'UPDATE webhook_endpoints',
]

t.test('SQL of a portal session reaches the webhooks of its tenant and nothing else', async (t) => {
  const { database, ada, eve } = await world(t)
  const web = await connect(t, database.url)
  const credential = await addPortal(database, ada.tenantId)
  const enter = () => web.query('SELECT FROM enter_portal_session($1, true)', [credential])
  const reached = await touchedBy(web, await statementsOf(database, ada), enter)
  t.strictSame(
    reached.filter((statement) => !openToWeb.includes(statement)),
    ofPortal,
  )
  const foreign = await touchedBy(web, await statementsOf(database, eve, 'only'), enter)
  t.strictSame(foreign, [appended], 'nothing of the other tenant')
})

t.test('the worker reaches the tenant of its job and no other, and no person', async (t) => {
  const { database, ada, eve } = await world(t)
  const worker = await connect(t, database.workerUrl)
  const statements = await statementsOf(database, ada)
  t.strictSame(await touchedBy(worker, statements, async () => {}), openToWorker, 'without a job')
  const job = await addJob(database, 'deliver', { tenantId: ada.tenantId })
  const waiting = await addJob(database, 'deliver', { tenantId: ada.tenantId }, 'created')
  const enterJob = (id: string) => worker.query(`SELECT enter_job('deliver', $1)`, [id])
  t.strictSame(
    await touchedBy(worker, statements, () => enterJob(waiting)),
    openToWorker,
    'waiting',
  )
  const foreign = await statementsOf(database, eve, 'only')
  const reached = await touchedBy(worker, foreign, () => enterJob(job))
  const ofTenants = openToWorker.filter((statement) => /audit_log/.test(statement))
  t.strictSame(reached, ofTenants, 'nothing of the other tenant')
  const own = await touchedBy(worker, statements, () => enterJob(job))
  const added = own.filter((statement) => !openToWorker.includes(statement))
  t.notOk(
    added.some((statement) =>
      / (sessions|api_tokens|idempotency_keys|oauth_identities|provider_grants|orders)$/.test(
        statement,
      ),
    ),
    added.join(),
  )
  t.ok(added.includes('SELECT deliveries'))
  for (const values of [[randomCredential(), 1_800, false]]) {
    t.equal(await refusalOf(worker.query('SELECT enter_session($1, $2, $3)', values)), denied)
  }
})

type Outcome = 'refused' | 'nothing' | 'acts'

/** What a call comes to; a void function or a row without values is nothing. */
async function call(client: pg.Client, name: string, values: unknown[]): Promise<Outcome> {
  const marks = values.map((_, index) => `$${index + 1}`)
  try {
    const { rows } = await client.query(`SELECT * FROM ${name}(${marks})`, values)
    const found = rows.flatMap((row) => Object.values(row))
    const isNothing = found.every((value) =>
      [null, false, '', 'session-ended'].includes(value as never),
    )
    return isNothing ? 'nothing' : 'acts'
  } catch (error) {
    const refusals = [denied, 'GH001']
    if (error instanceof pg.DatabaseError && refusals.includes(error.code ?? '')) return 'refused'
    throw error
  }
}

type Statement = { name: string; text: string; values?: unknown[] }

/** Reads, changes, deletes and fills every table and view, as far as statements can be written. */
async function statementsOf(
  { admin }: TestDatabase,
  user: TestUser,
  rows: 'all' | 'only' = 'all',
): Promise<Statement[]> {
  const { rows: columns } = await admin.query<{ table: string; names: string[] }>(
    `SELECT c.oid::regclass::text AS "table", array_agg(quote_ident(a.attname) ORDER BY a.attnum) AS names
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE c.relkind IN ('r', 'v') AND (c.relnamespace = 'public'::regnamespace
           OR c.oid = 'pgboss.job_common'::regclass)
     GROUP BY c.oid ORDER BY 1`,
  )
  return columns.flatMap(({ table, names }) => {
    const column =
      names.find((name) => name === 'tenant_id') ?? names.find((name) => name === 'user_id')
    if (rows === 'only' && column === undefined) return []
    const value = column === 'tenant_id' ? `'${user.tenantId}'` : user.userId
    const where = rows === 'only' ? ` WHERE ${column} = ${value}` : ''
    return [
      { name: `SELECT ${table}`, text: `SELECT FROM ${table}${where}` },
      { name: `DELETE ${table}`, text: `DELETE FROM ${table}${where}` },
      ...names.map((name) => ({
        name: `UPDATE ${table}`,
        text: `UPDATE ${table} SET ${name} = ${name}${where}`,
      })),
      ...insertsInto(table, user),
    ]
  })
}

function insertsInto(table: string, user: TestUser): Statement[] {
  const sample = samples[table]?.(user) ?? others[table]?.(user)
  if (sample === undefined) return []
  const [text, values] = insertion(table, sample)
  return [{ name: `INSERT ${table}`, text, values }]
}

/** New rows of tables that table-rows.ts has none for. */
const others: Record<string, (user: TestUser) => Record<string, unknown>> = {
  audit_log: ({ userId, tenantId }) => ({
    ...{ action: 'x', outcome: 'x', user_id: userId, tenant_id: tenantId },
  }),
  users: () => ({ email: 'new@example.com' }),
  memberships: ({ tenantId, userId }) => ({ tenant_id: tenantId, user_id: userId, role: 'admin' }),
  orders: ({ tenantId, userId }) => ({
    ...{ tenant_id: tenantId, user_id: userId, line_items: '[]', shipping_address: '{}' },
    card_last4: '4242',
  }),
  posts: ({ tenantId }) => ({ tenant_id: tenantId, title: 'x', body: 'x' }),
  teams: ({ tenantId }) => ({ tenant_id: tenantId, name: 'x' }),
  endpoint_replays: ({ tenantId }) => ({
    ...{ tenant_id: tenantId, endpoint_id: tenantId, replay_from: new Date(0) },
    ...{ replay_to: new Date(1), total: 0 },
  }),
  scope_keys: () => ({ key: Buffer.alloc(32) }),
  installation: () => ({ place: 'x' }),
  processed_events: () => ({ event_id: 'evt_new' }),
  received_events: () => ({
    ...{ event_id: 'evt_new', type: 'x', body: '', secret_index: 0, status: 'recorded' },
  }),
  billing_objects: () => ({ object_id: 'new', kind: 'payment' }),
  running_processes: () => ({
    ...{ id: randomUUID(), role: 'web', encryption_keys: [], session_secrets: [] },
  }),
  billing_reconciliations: () => ({
    ...{ id: randomUUID(), created_from: new Date(0), created_to: new Date(1) },
    ...{ dry_run: true, scheduled: false },
  }),
  ledger_checks: () => ({ unaccounted: 0, kinds: '{}', open_hours: [], checked_to: new Date(0) }),
  billing_replays: () => ({ id: randomUUID(), event_ids: [], received_to: new Date(0), total: 0 }),
}

// The feed of events waits for every transaction of the cluster, so these are kept short.
const atOnce = 40

/** The statements that touched a row, by name, each run in the situation and taken back. */
async function touchedBy(
  client: pg.Client,
  statements: readonly Statement[],
  prepare: () => Promise<unknown>,
): Promise<string[]> {
  const touched = new Set<string>()
  for (let from = 0; from < statements.length; from += atOnce) {
    await inside(client, async () => {
      await prepare()
      const attempts = statements
        .slice(from, from + atOnce)
        .flatMap(({ name, text, values }) => [
          client.query('SAVEPOINT attempt'),
          touches(client, text, values).then((does) => does && touched.add(name)),
          client.query('ROLLBACK TO SAVEPOINT attempt'),
        ])
      await Promise.all(attempts)
    })
  }
  return [...touched].toSorted()
}

async function touches(client: pg.Client, text: string, values: unknown[] = []): Promise<boolean> {
  try {
    return (await client.query(text, values)).rowCount !== 0
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error
    // A constraint is checked after the policy has let the row through.
    return error.code?.startsWith('23') === true
  }
}

/** Two people in two tenants, with rows of theirs in every table. */
async function world(t: Test) {
  const database = await createDatabase(t)
  const people: TestUser[] = []
  for (const name of ['ada', 'eve']) {
    const facts = { role: 'admin', email: `${name}@example.com`, emailVerified: true }
    const user = await createUser(database, { ...facts, billingCustomer: `cus_${name}` })
    people.push(user)
    await fill(database, user, name)
  }
  await receive(database, { id: 'evt_1' })
  await database.admin.query(
    `INSERT INTO billing_replays (id, event_ids, received_to, total)
     VALUES (gen_random_uuid(), '{}', now(), 0)`,
  )
  await database.admin.query(
    `INSERT INTO billing_reconciliations (id, created_from, created_to, dry_run, scheduled)
     VALUES (gen_random_uuid(), now() - interval '1 day', now(), true, false)`,
  )
  await database.admin.query(
    `INSERT INTO ledger_checks (unaccounted, kinds, open_hours, checked_to)
     VALUES (0, '{}', '{}', now())`,
  )
  await database.admin.query(
    `INSERT INTO idempotency_keys (holder, tenant_id, key_hash, request_hash)
     SELECT concat_ws(' ', 'service', id, tenant_id), tenant_id, hash, hash FROM service_tokens`,
  )
  await addPortal(database, people[0]?.tenantId ?? '', { app: await addApp(database) })
  await database.admin.query(
    `INSERT INTO operators (provider, provider_user_id) VALUES ('demo', 'x');
     INSERT INTO app_event_types (name, description) VALUES ('x', 'x')`,
  )
  await database.admin.query(
    `INSERT INTO invitation_mails (key_hash, day, count) VALUES (sha256('x'), now(), 1)`,
  )
  await database.admin.query(`INSERT INTO installation (place) VALUES ('here')`)
  await database.admin.query(
    `INSERT INTO erasures (kind, tenant_id) VALUES ('tenant', gen_random_uuid())`,
  )
  await database.admin.query(
    `INSERT INTO billing_objects (object_id, kind) VALUES ('one', 'payment')`,
  )
  await database.admin.query(
    `INSERT INTO running_processes (id, role, encryption_keys, session_secrets)
     VALUES (gen_random_uuid(), 'web', '{}', '{}')`,
  )
  // Last, because any writer of the tenant may add up what waits.
  await database.admin.query(
    `INSERT INTO usage_changes (tenant_id, resource_rows, resource_bytes, event_rows, event_bytes)
     SELECT tenant_id, 0, 0, 0, 0 FROM tenant_usage`,
  )
  const empty = await emptyTables(database)
  t.strictSame(empty, [], 'every table has rows')
  const [ada, eve] = people
  if (ada === undefined || eve === undefined) throw new Error('nobody')
  return { database, ada, eve }
}

/** Events about an owner's rows belong to the tenant of the row, which a function enters. */
function publishesAtHome({ rules, events = {} }: Description): boolean {
  const isOwned = rules.read?.reach === 'owner'
  return isOwned && (events.PATCH !== undefined || events.DELETE !== undefined)
}

async function fill(database: TestDatabase, user: TestUser, name: string): Promise<void> {
  const { admin } = database
  for (const [table, row] of parentsOf(user)) await admin.query(...insertion(table, row))
  const done = [...parentsOf(user).map(([table]) => table), ...ofUsers, ...chained, ...closed]
  const inFolders = descriptions.filter(({ rules }) => rules.read?.reach === 'chain')
  done.push(...inFolders.map(({ table }) => table))
  const { rows } = await admin.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relrowsecurity AND relnamespace = 'public'::regnamespace ORDER BY 1`,
  )
  for (const { name } of rows) if (!done.includes(name)) await giveRow(database, name, user)
  const { folderId, teamId } = await createChain(database, user)
  const { tenantId, userId } = user
  const facts = { tenantId, userId, department: null, folderId, teamId }
  for (const { table, row } of inFolders) await admin.query(...insertion(table, row(facts)))
  await addSession(database, user)
  await addJob(database, 'deliver', { tenantId: user.tenantId })
  await admin.query(
    `INSERT INTO oauth_identities (provider, provider_user_id, user_id, issuer)
     VALUES ('demo', $1, $2, 'i')`,
    [name, user.userId],
  )
  await admin.query(
    `INSERT INTO provider_grants (provider, provider_user_id, access_token, refresh_token, scope)
     VALUES ('demo', $1, 'x', 'x', '')`,
    [name],
  )
  await admin.query(
    `INSERT INTO invitations (tenant_id, email, role, expires_at)
     SELECT id, $1, 'admin', now() + interval '1 day' FROM tenants WHERE id <> $2`,
    [`${name}@example.com`, user.tenantId],
  )
  await admin.query(
    `INSERT INTO sign_in_attempts (state_hash, session_id, provider, nonce, code_verifier, expires_at)
     SELECT sha256(id::text::bytea), id, 'demo', '', '', now() + interval '1 hour' FROM sessions
     WHERE user_id = $1 LIMIT 1`,
    [user.userId],
  )
  await admin.query(
    `INSERT INTO logout_tokens (provider, jti_hash, expires_at)
     VALUES ('demo', sha256($1), now() + interval '1 hour')`,
    [Buffer.from(name)],
  )
}

async function emptyTables({ admin }: TestDatabase): Promise<string[]> {
  const { rows } = await admin.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relkind IN ('r', 'v') AND relnamespace = 'public'::regnamespace ORDER BY 1`,
  )
  const empty: string[] = []
  for (const { name } of rows) {
    const { rowCount } = await admin.query(`SELECT FROM ${name} LIMIT 1`)
    const isScopedView = name.startsWith('tenant_')
    if (rowCount === 0 && !isScopedView) empty.push(name)
  }
  return empty
}

async function entering(
  database: TestDatabase,
  client: pg.Client,
  user: TestUser | null,
  options: Parameters<typeof addSession>[2],
) {
  const credential = await addSession(database, user, options)
  return () => enterSession(client, credential)
}

/** A scope that is right in everything, sealed with a key that somebody made up. */
async function madeUp(client: pg.Client, user: TestUser, key: Buffer): Promise<string> {
  const { pid, at } = await transactionOf(client)
  const content = `1:session::${user.userId}:${user.tenantId}:${pid}:${at}`
  const inner = createHash('sha256').update(key).update(content).digest()
  return `${content}:${createHash('sha256').update(key).update(inner).digest('hex')}`
}

async function transactionOf(client: pg.Client): Promise<{ pid: number; at: string }> {
  const { rows } = await client.query<{ pid: number; at: string }>(
    `SELECT pg_backend_pid() AS pid, encode(timestamptz_send(transaction_timestamp()), 'hex') AS at`,
  )
  const [row] = rows
  if (row === undefined) throw new Error('no transaction')
  return row
}

async function readSetting(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ setting: string }>(
    `SELECT current_setting('app.scope') AS setting`,
  )
  return rows[0]?.setting ?? ''
}

async function setScope(client: pg.Client, setting: string): Promise<void> {
  await client.query(`SELECT set_config('app.scope', $1, true)`, [setting])
}

function sha256(content: Buffer): Buffer {
  return createHash('sha256').update(content).digest()
}
