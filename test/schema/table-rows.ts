import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { TestUser } from '#dev/testing/people.ts'
import type { Resource } from '#src/resources/kit/define.ts'
import { wordsTableOf } from '#src/resources/kit/names.ts'
import { resources } from '#src/resources/running-app.ts'
import { isolationRows } from '#src/schema/verification/isolation-rows.ts'
import { descriptions } from '#test/resources/index.ts'
import { NewRow } from '#test/resources/new-row.ts'
import type { TestDatabase } from '#test/support/database/database.ts'

type Row = Record<string, unknown>

/** A word of a row that is not there, for the table of a resource. */
function wordOf(resource: Resource): [string, (user: TestUser) => Row] {
  const person = ({ userId }: TestUser) => (resource.scope === 'owner' ? { user_id: userId } : {})
  return [
    wordsTableOf(resource),
    (user) => ({
      tenant_id: user.tenantId,
      id: randomBytes(4).readUInt32BE(),
      word: 'fence',
      ...person(user),
    }),
  ]
}

/** A row of the user in each table under row-level security that is not in isolation-rows.ts. */
export const samples: Record<string, (user: TestUser) => Row> = {
  tenants: ({ tenantId }) => ({ id: tenantId, name: 'A tenant' }),
  ...Object.fromEntries(resources.filter(({ search }) => search.length > 0).map(wordOf)),
  invoices: ({ tenantId }) => ({
    tenant_id: tenantId,
    amount: 1,
    currency: 'eur',
    status: 'paid',
  }),
  webhook_endpoints: ({ tenantId }) => ({
    tenant_id: tenantId,
    url: 'https://receiver.example',
    signature: 'spec',
    secret: '',
  }),
  // Of another endpoint than that of `parentsOf`, whose rows the isolation test has.
  endpoint_states: ({ tenantId }) => ({ tenant_id: tenantId, id: secondId(tenantId) }),
  endpoint_probes: ({ tenantId }) => ({ tenant_id: tenantId, id: secondId(tenantId) }),
  outbound_events: ({ tenantId }) => ({
    tenant_id: tenantId,
    id: `msg_${crypto.randomUUID()}`,
    type: 'x',
    body: '{}',
  }),
  deliveries: ({ tenantId }) => ({
    tenant_id: tenantId,
    event_id: `msg_second-${tenantId}`,
    endpoint_id: tenantId,
    event_type: 'x',
  }),
  delivery_attempts: ({ tenantId }) => ({
    tenant_id: tenantId,
    delivery_id: tenantId,
    series: 0,
    number: 2,
    started_at: new Date(0),
    duration_ms: 1,
  }),
  due_attempts: ({ tenantId }) => ({
    tenant_id: tenantId,
    delivery_id: secondId(tenantId),
    endpoint_id: tenantId,
    due_at: new Date(0),
    series: 0,
    number: 2,
  }),
  notifications: ({ tenantId }) => ({
    tenant_id: tenantId,
    kind: 'endpoint.failing',
    endpoint_id: tenantId,
    message: 'x',
  }),
  member_usage: ({ tenantId, userId }) => ({ tenant_id: tenantId, user_id: userId }),
  usage_changes: ({ tenantId }) => ({
    tenant_id: tenantId,
    resource_rows: 0,
    resource_bytes: 0,
    event_rows: 0,
    event_bytes: 0,
  }),
  invitations: ({ tenantId }) => ({
    tenant_id: tenantId,
    email: `${crypto.randomUUID()}@example.com`,
    role: 'viewer',
    expires_at: tomorrow,
  }),
  oauth_identities: ({ userId }) => ({
    provider: 'acme',
    provider_user_id: crypto.randomUUID(),
    user_id: userId,
    issuer: 'x',
  }),
  sessions: ({ userId }) => ({ id_hash: randomBytes(32), user_id: userId, expires_at: tomorrow }),
  api_tokens: ({ userId, tenantId }) => ({
    hash: randomBytes(32),
    last_four: 'test',
    user_id: userId,
    tenant_id: tenantId,
    name: 'x',
    expires_at: tomorrow,
  }),
  service_tokens: ({ tenantId }) => ({
    tenant_id: tenantId,
    hash: randomBytes(32),
    last_four: 'test',
    name: 'x',
    permissions: '{post:read}',
    expires_at: tomorrow,
  }),
  idempotency_keys: ({ userId }) => ({
    ...{ holder: `person ${userId}`, key_hash: randomBytes(32), request_hash: randomBytes(32) },
  }),
  provider_grants: ({ userId }) => ({
    provider: 'acme',
    provider_user_id: `second-${userId}`,
    access_token: '',
    scope: '',
  }),
  token_revocations: ({ userId }) => ({
    provider: 'acme',
    provider_user_id: 'x',
    user_id: userId,
    token: '',
    kind: 'access_token',
    status: 'failed',
  }),
}

/** Of another row of the same table. */
function secondId(id: string): string {
  return id.replace(/^./, (first) => (first === '0' ? '1' : '0'))
}

const tomorrow = new Date(Date.now() + 86_400_000)

/** Rows that every user has. */
export const ofUsers = ['tenants', 'users', 'memberships', 'tenant_usage']

/** Rows for operators alone: test/db/app-tokens.test.ts. */
export const ofOperators = ['app_tokens']

/** Tables that only functions of the owner reach. */
export const closed = [
  'scope_keys',
  'installation',
  'erasures',
  'sign_in_attempts',
  'logout_tokens',
  'invitation_mails',
]

/**
 * Rows of a service or the app, in whose scope alone they are seen: test/db/portal-sessions.test.ts.
 */
export const ofServices = ['portal_sessions']

/** Rows that cannot stand alone: test/schema/document-chain.test.ts. */
export const chained = [
  ...['teams', 'team_members', 'folders'],
  ...descriptions.flatMap(({ table, rules }) => (rules.read?.reach === 'chain' ? [table] : [])),
]

/** Rows that the samples reference, in the order of their keys. */
export function parentsOf(user: TestUser): [string, Row][] {
  const { tenantId } = user
  const first = `msg_first-${tenantId}`
  return [
    ['webhook_endpoints', { ...samples.webhook_endpoints?.(user), id: tenantId }],
    ['webhook_endpoints', { ...samples.webhook_endpoints?.(user), id: secondId(tenantId) }],
    ['endpoint_states', { tenant_id: tenantId, id: tenantId }],
    ['endpoint_probes', { tenant_id: tenantId, id: tenantId }],
    ['outbound_events', { ...samples.outbound_events?.(user), id: first }],
    ['outbound_events', { ...samples.outbound_events?.(user), id: `msg_second-${tenantId}` }],
    ['deliveries', { ...samples.deliveries?.(user), id: tenantId, event_id: first }],
    ['delivery_attempts', { ...samples.delivery_attempts?.(user), number: 1 }],
    ['due_attempts', { ...samples.due_attempts?.(user), delivery_id: tenantId }],
    ['outbound_events', { ...samples.outbound_events?.(user), id: `msg_third-${tenantId}` }],
    [
      'deliveries',
      { ...samples.deliveries?.(user), id: secondId(tenantId), event_id: `msg_third-${tenantId}` },
    ],
    ...['first', 'second'].map((name): [string, Row] => [
      'oauth_identities',
      { ...samples.oauth_identities?.(user), provider_user_id: `${name}-${user.userId}` },
    ]),
    [
      'provider_grants',
      { ...samples.provider_grants?.(user), provider_user_id: `first-${user.userId}` },
    ],
  ]
}

export async function giveRow(
  { admin }: TestDatabase,
  table: string,
  user: TestUser,
): Promise<void> {
  if (!ofUsers.includes(table)) await admin.query(...rowOf(table, user))
}

export function rowOf(table: string, user: TestUser): [string, unknown[]] {
  const sample = samples[table]?.(user)
  if (sample !== undefined) return insertion(table, sample)
  const { text = '', values = [] } = isolationRows[table]?.(user) ?? {}
  return [text, values]
}

export function insertion(table: string, row: Row): [string, unknown[]] {
  const [needed] = Object.entries(row).filter(([, value]) => value instanceof NewRow)
  if (needed !== undefined) return insertionAfter(table, row, needed[0], needed[1] as NewRow)
  const columns = Object.keys(row).map((name) => pg.escapeIdentifier(name))
  const marks = columns.map((_, index) => `$${index + 1}`)
  return [`INSERT INTO ${table} (${columns}) VALUES (${marks})`, Object.values(row)]
}

/** The row and the one that its column `name` names, in one statement: keys are checked at its end. */
function insertionAfter(
  table: string,
  row: Row,
  name: string,
  needed: NewRow,
): [string, unknown[]] {
  const { [name]: _, ...rest } = row
  const [first, values] = insertion(needed.table, needed.row)
  const columns = Object.keys(rest).map((one) => pg.escapeIdentifier(one))
  const marks = columns.map((_, index) => `$${index + values.length + 1}`)
  return [
    `WITH needed AS (${first} RETURNING id)
     INSERT INTO ${table} (${[...columns, name]}) VALUES (${[...marks, '(SELECT id FROM needed)']})`,
    [...values, ...Object.values(rest)],
  ]
}
