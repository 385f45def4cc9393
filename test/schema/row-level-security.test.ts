import pg from 'pg'
import t, { type Test } from 'tap'
import { isolationRows } from '#src/schema/isolation-rows.ts'
import { type Attempt, attemptsAs, type Context, denied } from '#test/db/attempt.ts'
import {
  createDatabase,
  createUser,
  type TestDatabase,
  type TestUser,
} from '#test/support/helper.ts'

type Row = Record<string, unknown>

/** A row in each table under row-level security that isolationRows does not cover. */
const samples: Record<string, (user: TestUser) => Row> = {
  tenants: ({ tenantId }) => ({ id: tenantId, name: 'A tenant' }),
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
  notifications: ({ tenantId }) => ({
    tenant_id: tenantId,
    kind: 'endpoint.failing',
    endpoint_id: tenantId,
    message: 'x',
  }),
}

/** Rows that need other rows; see test/schema/document-chain.test.ts. */
const chained = ['teams', 'team_members', 'folders', 'documents']

/** Rows that the samples reference, in the order of their keys. */
function parentsOf(user: TestUser): [string, Row][] {
  const { tenantId } = user
  const first = `msg_first-${tenantId}`
  return [
    ['webhook_endpoints', { ...samples.webhook_endpoints?.(user), id: tenantId }],
    ['outbound_events', { ...samples.outbound_events?.(user), id: first }],
    ['outbound_events', { ...samples.outbound_events?.(user), id: `msg_second-${tenantId}` }],
    ['deliveries', { ...samples.deliveries?.(user), id: tenantId, event_id: first }],
    ['delivery_attempts', { ...samples.delivery_attempts?.(user), number: 1 }],
  ]
}

/** Tables that everyone may append to. */
const writtenForOthers = ['audit_log']

t.test('row-level security, with raw SQL', async (t) => {
  const database = await createDatabase(t)
  const mine = await createUser(database)
  const stranger = { tenantId: crypto.randomUUID(), userId: mine.userId + 1 }
  const found = await tablesUnderRls(database)
  const known = [...Object.keys(samples), ...Object.keys(isolationRows), ...chained]
  t.strictSame([...new Set(known).symmetricDifference(new Set(found))], [], 'every table has a row')
  const tables = found.filter((name) => !chained.includes(name))
  const parents = parentsOf(mine)
  for (const [table, row] of parents) await database.admin.query(...insertion(table, row))
  const given = (table: string) => parents.filter(([parent]) => parent === table).length
  for (const table of tables) if (given(table) === 0) await giveRow(database, table, mine)
  const elsewhere: [string, Context][] = [
    ['no context', {}],
    ['the context of another tenant and user', stranger],
  ]
  const roles = { app: database.url, worker: database.workerUrl, owner: database.ownerUrl }
  for (const [role, url] of Object.entries(roles)) {
    const attempt = await attemptsAs(t, url)
    for (const table of tables) {
      const commands = await commandsOn(attempt, table)
      await t.test(`${table} as ${role}`, async (t) => {
        for (const [name, context] of elsewhere) {
          for (const { what, sql, may } of commands.slice(1)) {
            const outcome = await attempt(context, sql)
            t.match(outcome, may ? { rows: 0 } : denied, `${what} in ${name}`)
          }
        }
        for (const { what, sql, may } of commands.slice(1)) {
          const outcome = await attempt(mine, sql)
          // Not even the table's owner may change the log: no policy allows it.
          const touched = table === 'audit_log' && what !== 'SELECT' ? 0 : given(table) || 1
          t.match(outcome, may ? { rows: touched } : denied, `${what} of an own row`)
        }
        await checkInserts(t, attempt, table, commands[0]?.may === true)
      })
    }
  }

  async function checkInserts(t: Test, attempt: Attempt, table: string, may: boolean) {
    const fresh = { tenantId: crypto.randomUUID(), userId: mine.userId }
    const own = table === 'tenants' ? fresh : mine
    const [sql, values] = rowOf(table, own)
    t.match(await attempt(own, sql, values), may ? { rows: 1 } : denied, 'INSERT of an own row')
    const open = may && writtenForOthers.includes(table)
    for (const [name, context] of elsewhere) {
      const outcome = await attempt(context, sql, values)
      t.match(outcome, open ? { rows: 1 } : denied, `INSERT of another’s row in ${name}`)
      if (may && !open) t.match(outcome, { message: /row-level security/ }, 'by the policy')
    }
    if (table === 'orders' && may) {
      const half = { tenantId: stranger.tenantId, userId: mine.userId }
      t.match(await attempt(half, sql, values), denied, 'INSERT of an own order in another tenant')
    }
  }
})

t.test('a row cannot be moved to another tenant or user, even by the owner', async (t) => {
  const database = await createDatabase(t)
  const mine = await createUser(database)
  const yours = await createUser(database)
  const attempt = await attemptsAs(t, database.ownerUrl)
  for (const table of ['posts', 'invoices', 'orders']) await giveRow(database, table, mine)
  const moves = [
    ['UPDATE posts SET tenant_id = $1, author_id = NULL', yours.tenantId],
    ['UPDATE invoices SET tenant_id = $1', yours.tenantId],
    ['UPDATE orders SET user_id = $1', yours.userId],
  ] as const
  for (const [sql, value] of moves) {
    t.match(await attempt(mine, sql, [value]), { ...denied, message: /row-level security/ }, sql)
  }
})

async function tablesUnderRls({ admin }: TestDatabase): Promise<string[]> {
  const { rows } = await admin.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relrowsecurity AND relnamespace = 'public'::regnamespace`,
  )
  return rows.map(({ name }) => name)
}

/** For each command: whether the role has the privilege, and a statement on every row. */
async function commandsOn(attempt: Attempt, table: string) {
  const outcome = await attempt(
    {},
    `SELECT attname AS column, has_column_privilege(attrelid, attnum, 'UPDATE') AS "UPDATE",
       has_table_privilege(attrelid, 'INSERT') AS "INSERT",
       has_table_privilege(attrelid, 'SELECT') AS "SELECT",
       has_table_privilege(attrelid, 'DELETE') AS "DELETE"
     FROM pg_attribute
     WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attidentity = ''
     ORDER BY has_column_privilege(attrelid, attnum, 'UPDATE') DESC, attnum DESC LIMIT 1`,
    [table],
  )
  const [may] = 'data' in outcome ? outcome.data : []
  const column = String(may?.column)
  const statements = {
    INSERT: '',
    SELECT: `SELECT FROM ${table}`,
    UPDATE: `UPDATE ${table} SET ${column} = ${column}`,
    DELETE: `DELETE FROM ${table}`,
  }
  return Object.entries(statements).map(([what, sql]) => ({ what, sql, may: may?.[what] === true }))
}

async function giveRow({ admin }: TestDatabase, table: string, user: TestUser): Promise<void> {
  if (table !== 'tenants') await admin.query(...rowOf(table, user))
}

function rowOf(table: string, user: TestUser): [string, unknown[]] {
  const sample = samples[table]?.(user)
  if (sample !== undefined) return insertion(table, sample)
  const { text = '', values = [] } = isolationRows[table]?.(user) ?? {}
  return [text, values]
}

function insertion(table: string, row: Row): [string, unknown[]] {
  const columns = Object.keys(row).map((name) => pg.escapeIdentifier(name))
  const marks = columns.map((_, index) => `$${index + 1}`)
  return [`INSERT INTO ${table} (${columns}) VALUES (${marks})`, Object.values(row)]
}
