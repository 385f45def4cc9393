import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { createUser, type TestUser } from '#dev/testing/people.ts'
import { receive } from '#test/billing/received.ts'
import { addJob } from '#test/db/credentials.ts'
import { plantedOf } from '#test/resources/description.ts'
import { descriptions } from '#test/resources/index.ts'
import { insertion } from '#test/schema/table-rows.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { appCaller } from '#test/support/callers/app-caller.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { eraseAll, findTables, listTables } from './support.ts'

/*
 * What remains of a person or tenant is found by reading every table. A new table breaks these tests
 * until it has a row below, so that its erasure is decided.
 */

const email = 'ada.lovelace@example.com'
const subject = 'subject-4711'
const words = [email, 'Lovelace', subject, 'Analytical Street', 'cus_lovelace']

/** Tables without data of a person or tenant. */
const impersonal = [
  '_prisma_migrations',
  'scope_keys',
  'installation',
  'running_processes',
  'schema_releases',
  'schema_objects',
  'billing_objects',
  'billing_replays',
  'billing_reconciliations',
  'ledger_checks',
  'processed_events',
  'logout_tokens',
  'invitation_mails', // hashes alone
  'operators', // as the setting names them
  'app_event_types',
]

type Row = Record<string, unknown>
type Subject = TestUser & { teamId: number; folderId: number; endpointId: string; event: string }

const tomorrow = new Date(Date.now() + 86_400_000)
const bytes = (text: string) => Buffer.from(text.padEnd(32).slice(0, 32))
const address = {
  name: 'Ada Lovelace',
  line1: '1 Analytical Street',
  city: 'London',
  postalCode: 'N1',
  country: 'GB',
}

/** A row about the person in each table, with whatever it can have of them, in the order of keys. */
const planted: Readonly<Record<string, (about: Subject) => Row>> = {
  oauth_identities: ({ userId }) => ({
    ...{ provider: 'demo', provider_user_id: subject, user_id: userId },
    ...{ issuer: 'https://op.example', verified_email: email },
  }),
  provider_grants: () => ({
    ...{ provider: 'demo', provider_user_id: subject },
    ...{ access_token: bytes(subject), refresh_token: bytes(subject), scope: 'openid' },
  }),
  token_revocations: ({ userId, tenantId }) => ({
    ...{ provider: 'demo', provider_user_id: subject, user_id: userId, tenant_id: tenantId },
    ...{ token: bytes(subject), kind: 'refresh_token', status: 'failed' },
  }),
  sessions: ({ userId, tenantId }) => ({
    ...{ id: tenantId, id_hash: bytes('sid'), user_id: userId, tenant_id: tenantId },
    ...{ user_agent: 'Lovelace’s browser', ip: '192.0.2.0/24', expires_at: tomorrow },
  }),
  sign_in_attempts: ({ userId, tenantId }) => ({
    ...{ state_hash: bytes('state'), session_id: tenantId, provider: 'demo', nonce: 'Lovelace' },
    ...{ code_verifier: 'Lovelace', expires_at: tomorrow, purpose: 'link', user_id: userId },
  }),
  idempotency_keys: ({ userId, tenantId }) => ({
    ...{ holder: `person ${userId}`, key_hash: bytes('key'), tenant_id: tenantId },
    ...{ request_hash: bytes('request'), result: bytes('result'), secret: bytes('x') },
  }),
  api_tokens: ({ userId, tenantId }) => ({
    ...{ hash: bytes('token'), user_id: userId, tenant_id: tenantId, name: 'Lovelace’s token' },
    ...{ last_four: 'abcd', all_permissions: true, expires_at: tomorrow },
  }),
  service_tokens: ({ userId, tenantId }) => ({
    ...{ tenant_id: tenantId, id: tenantId, hash: bytes(`service ${tenantId}`), name: 'CI' },
    ...{ last_four: 'abcd', permissions: '{post:read}', created_by: userId, expires_at: tomorrow },
  }),
  app_tokens: ({ userId, endpointId }) => ({
    ...{ id: endpointId, hash: randomBytes(32), last_four: 'abcd', name: 'backend' },
    ...{ permissions: '{event:publish}', created_by: userId, expires_at: tomorrow },
  }),
  portal_sessions: ({ tenantId, endpointId }) => ({
    ...{ hash: bytes(`portal ${tenantId}`), tenant_id: tenantId },
    ...{ app_token_id: endpointId, expires_at: tomorrow },
  }),
  invitations: ({ tenantId }) => ({
    ...{ tenant_id: tenantId, email, role: 'viewer', expires_at: tomorrow },
  }),
  ...plantedOf(descriptions),
  team_members: ({ userId, tenantId, teamId }) => ({
    ...{ tenant_id: tenantId, team_id: teamId, user_id: userId },
  }),
  webhook_endpoints: ({ tenantId, endpointId }) => ({
    ...{ tenant_id: tenantId, id: endpointId, url: 'https://receiver.example' },
    ...{ signature: 'spec', secret: bytes('secret') },
  }),
  endpoint_states: ({ tenantId, endpointId }) => ({ tenant_id: tenantId, id: endpointId }),
  endpoint_probes: ({ tenantId, endpointId }) => ({ tenant_id: tenantId, id: endpointId }),
  outbound_events: ({ userId, tenantId, event }) => ({
    ...{ tenant_id: tenantId, id: event, type: 'order.updated' },
    body: JSON.stringify({
      ...{ id: event, type: 'order.updated', createdAt: '2026-01-01T00:00:00.000Z' },
      data: { id: 1, userId, lineItems: [], shippingAddress: address, cardLast4: '4242' },
    }),
  }),
  deliveries: ({ tenantId, endpointId, event }) => ({
    ...{ tenant_id: tenantId, id: endpointId, event_id: event, endpoint_id: endpointId },
    event_type: 'order.updated',
  }),
  due_attempts: ({ tenantId, endpointId }) => ({
    ...{ tenant_id: tenantId, delivery_id: endpointId, endpoint_id: endpointId },
    ...{ due_at: new Date(0), series: 0, number: 1 },
  }),
  delivery_attempts: ({ tenantId, endpointId }) => ({
    ...{ tenant_id: tenantId, delivery_id: endpointId, series: 0, number: 1 },
    ...{ started_at: new Date(0), duration_ms: 1, response_excerpt: 'Thank you, Ada Lovelace' },
  }),
  notifications: ({ tenantId, endpointId }) => ({
    ...{ tenant_id: tenantId, endpoint_id: endpointId, kind: 'endpoint.failing', message: 'x' },
  }),
  endpoint_replays: ({ tenantId, endpointId }) => ({
    ...{ tenant_id: tenantId, endpoint_id: endpointId, total: 0 },
    ...{ replay_from: new Date(0), replay_to: tomorrow },
  }),
  member_usage: ({ userId, tenantId }) => ({ tenant_id: tenantId, user_id: userId }),
  usage_changes: ({ tenantId }) => ({
    ...{ tenant_id: tenantId, resource_rows: 0, resource_bytes: 0, event_rows: 0, event_bytes: 0 },
  }),
  audit_log: ({ userId, tenantId }) => ({
    ...{ action: 'sign-in', outcome: 'done', user_id: userId, tenant_id: tenantId },
    ...{ target: tenantId, ip: '192.0.2.0/24', user_agent: 'Lovelace’s browser' },
  }),
}

/** Tables that the test fills in another way. */
const filled = [
  'users',
  'tenants',
  'memberships',
  'teams',
  'folders',
  'received_events',
  'erasures',
  'tenant_usage',
  'posts_words', // by a trigger of posts
]

t.test(
  'every table is planted below, or is known to have nothing of a person or tenant',
  async (t) => {
    const { database } = await build(t)
    const tables = (await listTables(database)).filter((name) => !name.startsWith('pgboss.'))
    const known = [...impersonal, ...Object.keys(planted), ...filled]
    t.strictSame(tables.toSorted(), known.toSorted(), 'decide what erasure does with a new table')
  },
)

t.test(
  'after erasure no table names the person, except those that docs/privacy.md lists',
  async (t) => {
    const test = await build(t)
    const { database } = test
    const { user, send } = await createPerson(test)
    const host = await createUser(database, { role: 'admin' })
    await database.admin.query(
      `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'editor')`,
      [host.tenantId, user.userId],
    )
    const { endpointId } = await plantAll(database, { ...user, tenantId: host.tenantId })
    await plantAppEvent(database, { ...user, tenantId: host.tenantId, endpointId })
    await receive(database, { id: 'evt_1', object: { customer: 'cus_lovelace', amount: 1 } })
    await database.admin.query(
      `INSERT INTO audit_log (action, outcome, target) VALUES ('customer-link', 'done', $1)`,
      [`cus_lovelace user ${user.userId}`],
    )
    const before = await findTables(database, words)
    for (const table of ['users', 'tenants', 'outbound_events', 'delivery_attempts', 'audit_log']) {
      t.ok(before.includes(table), `${table} names the person before`)
    }
    const answer = await send('POST', '/auth/account/delete', { confirm: 'delete' })
    t.equal(answer.statusCode, 204, answer.body)
    await eraseAll(database)
    t.strictSame(await findTables(database, words), await listedAsRemaining())
    const { rows } = await database.admin.query(
      `SELECT body::jsonb AS body FROM outbound_events
       WHERE tenant_id = $1 AND type = 'order.updated'`,
      [host.tenantId],
    )
    t.match(rows, [
      {
        body: { data: { userId: user.userId, shippingAddress: { name: 'erased', country: 'ZZ' } } },
      },
    ])
    t.strictSame(
      Object.keys(rows[0]?.body.data.shippingAddress).toSorted(),
      Object.keys(address).toSorted(),
    )
    const posts = await database.admin.query('SELECT author_id FROM posts')
    t.strictSame(posts.rows, [{ author_id: null }], 'what they wrote for others stays')
  },
)

t.test('events about what a deleted person owned keep nothing that they wrote', async (t) => {
  const owned = descriptions.filter(
    ({ rules, events = {} }) => rules.read?.reach === 'owner' && Object.keys(events).length > 0,
  )
  const test = await build(t)
  const { database } = test
  const { user, send } = await createPerson(test)
  const host = await createUser(database, { role: 'admin' })
  for (const { name, body = {}, keptInEvents = [] } of owned) {
    const written = Object.entries(body).filter(([key]) => !keptInEvents.includes(key))
    const data = { id: 1, userId: user.userId, ...Object.fromEntries(written.map(marked)) }
    const [type, id] = [`${name}.updated`, `msg_${name.padEnd(16, '-')}`]
    await database.admin.query(
      ...insertion('outbound_events', {
        ...{ tenant_id: host.tenantId, id, type },
        body: JSON.stringify({ id, type, createdAt: '2026-01-01T00:00:00.000Z', data }),
      }),
    )
  }
  await database.admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'editor')`,
    [host.tenantId, user.userId],
  )
  await send('POST', '/auth/account/delete', { confirm: 'delete' })
  await database.admin.query(
    `INSERT INTO erasures (kind, user_id, tenant_id) VALUES ('events', $1, $2)`,
    [user.userId, host.tenantId],
  )
  await eraseAll(database)
  const { rows } = await database.admin.query<{ body: string }>('SELECT body FROM outbound_events')
  t.equal(rows.length, owned.length)
  for (const { body } of rows) t.notMatch(body, 'Lovelace')
})

t.test(
  'events of the app stay as they were published, whatever their type is called',
  async (t) => {
    const test = await build(t)
    const { database } = test
    const { user } = await createPerson(test)
    const host = await createUser(database, { role: 'admin' })
    const app = await appCaller(test)
    await app.use('PUT', '/event-types/order.shipped', { description: 'A parcel has left' })
    const published = [
      { userId: user.userId, note: 'PostgreSQL has no text for this: \u0000' },
      { userId: user.userId, shippingAddress: address },
    ]
    for (const data of published) {
      const url = `/tenants/${host.tenantId}/events`
      const answer = await app.use('POST', url, { type: 'order.shipped', data })
      t.equal(answer.statusCode, 201, answer.body)
    }
    const bodies = async () => {
      const { rows } = await database.admin.query<{ body: string }>(
        'SELECT body FROM outbound_events ORDER BY sequence',
      )
      return rows.map(({ body }) => body)
    }
    const before = await bodies()
    t.strictSame(
      before.map((body) => JSON.parse(body).data),
      published,
    )
    const own = { ...user, tenantId: host.tenantId, teamId: 0, folderId: 0, endpointId: '' }
    const event = planted.outbound_events?.({ ...own, event: 'msg_own' })
    await database.admin.query(...insertion('outbound_events', { ...event }))
    await database.admin.query(
      `INSERT INTO erasures (kind, user_id, tenant_id) VALUES ('events', $1, $2)`,
      [user.userId, host.tenantId],
    )
    await eraseAll(database)
    const [ofOwn, ...others] = (await bodies()).toReversed()
    t.strictSame(others.toReversed(), before)
    t.notMatch(ofOwn, 'Lovelace', 'and one of the program does not')
    t.equal((await database.admin.query('SELECT FROM erasures')).rowCount, 0, 'it is finished')
  },
)

/** The value with the person's name in each text. */
function marked([key, value]: [string, unknown]): [string, unknown] {
  const text = JSON.stringify(value, (_key, one) => (typeof one === 'string' ? 'Lovelace' : one))
  return [key, JSON.parse(text)]
}

t.test('after a tenant is deleted no row of any table has its id, jobs included', async (t) => {
  const test = await build(t)
  const { database } = test
  const { user, send } = await createPerson(test)
  const member = await createUser(database, { tenantId: user.tenantId })
  const elsewhere = await createUser(database, { role: 'admin' })
  await database.admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'viewer')`,
    [user.tenantId, elsewhere.userId],
  )
  await plantAll(database, user)
  const other = await plantAll(database, elsewhere)
  for (const [queue, data] of [
    ['deliver', { deliveryId: user.tenantId, series: 0, number: 1 }],
    ['endpoint-turn', { endpointId: user.tenantId }],
    ['tenant-replay', {}],
    ['alert-mail', { notificationId: 1 }],
    ['invitation-mail', { invitationId: user.tenantId }],
  ] as const) {
    for (const state of ['created', 'active', 'completed']) {
      await addJob(database, queue, { tenantId: user.tenantId, ...data }, state)
    }
  }
  const kept = await addJob(database, 'deliver', { tenantId: elsewhere.tenantId })
  const wrong = await send('POST', '/session/tenant/delete', { name: 'ada lovelace' })
  t.equal(wrong.statusCode, 409)
  t.match(wrong.json().type, 'confirmation-mismatch')
  const answer = await send('POST', '/session/tenant/delete', { name: 'Ada Lovelace' })
  t.equal(answer.statusCode, 204, answer.body)
  await eraseAll(database)
  t.strictSame(await findTables(database, [user.tenantId]), [])
  const { admin } = database
  const people = await admin.query<{ id: string }>('SELECT id FROM users ORDER BY id')
  t.strictSame(
    people.rows.map(({ id }) => Number(id)),
    [elsewhere.userId],
    'members without another tenant are gone',
  )
  t.not(member.userId, elsewhere.userId)
  const jobs = await admin.query<{ id: string }>(`SELECT id FROM pgboss.job WHERE name = 'deliver'`)
  t.strictSame(jobs.rows, [{ id: kept }], 'jobs of other tenants stay')
  const events = await admin.query('SELECT id, body FROM outbound_events')
  t.match(events.rows, [{ id: other.event, body: /Analytical Street/ }], 'and so do their events')
})

/** A person who is alone in the tenant of their own, signed in. */
async function createPerson(test: TestApp) {
  const facts = { role: 'admin', email, emailVerified: true, billingCustomer: 'cus_lovelace' }
  const person = await owner(test, facts)
  await test.database.admin.query(`UPDATE tenants SET name = 'Ada Lovelace' WHERE id = $1`, [
    person.user.tenantId,
  ])
  return person
}

/** Fills every table with rows about the user in their tenant; without those that exist already. */
async function plantAll(database: TestApp['database'], user: TestUser): Promise<Subject> {
  const { admin } = database
  const endpointId = crypto.randomUUID()
  const event = `msg_${user.tenantId}`
  const team = await admin.query<{ id: string }>(
    `INSERT INTO teams (tenant_id, name) VALUES ($1, 'A team') RETURNING id`,
    [user.tenantId],
  )
  const teamId = Number(team.rows[0]?.id)
  const folder = await admin.query<{ id: string }>(
    `INSERT INTO folders (tenant_id, team_id, name) VALUES ($1, $2, 'A folder') RETURNING id`,
    [user.tenantId, teamId],
  )
  const about = { ...user, teamId, folderId: Number(folder.rows[0]?.id), endpointId, event }
  for (const [table, row] of Object.entries(planted)) {
    const [text, values] = insertion(table, row(about))
    await admin.query(`${text} ON CONFLICT DO NOTHING`, values)
  }
  return about
}

/** An event that the app has published about the person, and what a receiver answered. */
async function plantAppEvent(
  { admin }: TestApp['database'],
  { tenantId, userId, endpointId }: TestUser & Pick<Subject, 'endpointId'>,
) {
  const [id, type, delivery] = ['msg_app', 'order.shipped', crypto.randomUUID()]
  const body = JSON.stringify({ id, type, data: { userId, to: 'Ada Lovelace' } })
  const answered = { started_at: new Date(0), duration_ms: 1, response_excerpt: 'Ada Lovelace' }
  const rows: [string, Row][] = [
    ['app_event_types', { name: type, description: 'A parcel has left' }],
    ['outbound_events', { tenant_id: tenantId, id, type, body }],
    [
      'deliveries',
      {
        ...{ tenant_id: tenantId, id: delivery, event_id: id, event_type: type },
        endpoint_id: endpointId,
      },
    ],
    [
      'delivery_attempts',
      { tenant_id: tenantId, delivery_id: delivery, series: 0, number: 1, ...answered },
    ],
  ]
  for (const [table, row] of rows) await admin.query(...insertion(table, row))
}

/** The tables in the first column of the list in docs/privacy.md, in order. */
async function listedAsRemaining(): Promise<string[]> {
  const page = await readFile(new URL('../../../docs/privacy.md', import.meta.url), 'utf8')
  const [, section = ''] = page.split('## What still names a person')
  const rows = section.split('\n## ')[0]?.matchAll(/^\| `(\w+)`/gm) ?? []
  return [...rows].map(([, table = '']) => table).toSorted()
}
