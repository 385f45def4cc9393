import pg from 'pg'
import t, { type Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { createChain } from '#test/support/callers/chain.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { giveRow, insertion, parentsOf } from './table-rows.ts'

/* The policies for the owner of the tables, whose functions run in scopes of their own kinds. */

type Command = 'SELECT' | 'UPDATE' | 'DELETE'
/** Which rows: none, those of the tenant of the scope, or those of all tenants. */
type Reach = 'none' | 'tenant' | 'all'
type Reaches = Readonly<Record<Command, Reach>>

const nothing: Reaches = { SELECT: 'none', UPDATE: 'none', DELETE: 'none' }
const ofTenant: Reaches = { SELECT: 'tenant', UPDATE: 'tenant', DELETE: 'tenant' }
const readTenant: Reaches = { ...nothing, SELECT: 'tenant' }
const readAll: Reaches = { ...ofTenant, SELECT: 'all' }

type Table = {
  policies: readonly string[]
  /** In a scope of any other kind, without a user. */
  otherwise: Reaches
  kinds: Readonly<Record<string, Reaches>>
}

const tables: Readonly<Record<string, Table>> = {
  orders: {
    policies: ['whole_tenant', 'erasure'],
    otherwise: nothing,
    kinds: { usage: readTenant, 'tenant-export': readTenant, erasure: ofTenant },
  },
  documents: {
    policies: ['whole_tenant', 'move_to_team', 'erasure'],
    otherwise: nothing,
    kinds: {
      usage: readTenant,
      'tenant-export': readTenant,
      move: { ...readTenant, UPDATE: 'tenant' },
      erasure: ofTenant,
    },
  },
  posts_words: { policies: ['kept_by_triggers'], otherwise: ofTenant, kinds: {} },
  webhook_endpoints: {
    policies: ['all_tenants'],
    otherwise: ofTenant,
    kinds: { ledger: readAll },
  },
  endpoint_states: {
    policies: ['all_tenants'],
    otherwise: ofTenant,
    kinds: { ledger: readAll },
  },
  outbound_events: {
    policies: ['all_tenants'],
    otherwise: ofTenant,
    kinds: { ledger: readAll, trace: readAll },
  },
  deliveries: {
    policies: ['all_tenants'],
    otherwise: ofTenant,
    kinds: { ledger: readAll, trace: readAll },
  },
  due_attempts: {
    policies: ['all_tenants'],
    otherwise: ofTenant,
    kinds: { ledger: readAll },
  },
  audit_log: {
    policies: ['erasure', 'all_tenants', 'retention'],
    otherwise: readTenant,
    kinds: {
      erasure: ofTenant,
      trace: { ...nothing, SELECT: 'all' },
      retention: { SELECT: 'all', UPDATE: 'none', DELETE: 'all' },
    },
  },
}

const kinds = [
  ...new Set([
    'session',
    'job',
    ...Object.values(tables).flatMap(({ kinds }) => Object.keys(kinds)),
  ]),
]

t.test('a scope of each kind shows the owner the rows that its functions need', async (t) => {
  const { database, mine, runIn } = await setUp(t)
  const { rows } = await database.admin.query<{ name: string }>(
    `SELECT tablename || '.' || policyname AS name FROM pg_policies
     WHERE schemaname = 'public' AND roles <> '{public}' ORDER BY 1`,
  )
  const known = Object.entries(tables).flatMap(([table, { policies }]) =>
    policies.map((policy) => `${table}.${policy}`),
  )
  t.strictSame(
    rows.map(({ name }) => name),
    known.toSorted(),
    'every policy for the owner is here',
  )
  for (const [table, { otherwise, kinds: own }] of Object.entries(tables)) {
    const counts = await database.admin.query<{ tenant: number; all: number }>(
      `SELECT count(*) FILTER (WHERE tenant_id = $1)::int AS tenant, count(*)::int AS all FROM ${table}`,
      [mine.tenantId],
    )
    const { tenant = 0, all = 0 } = counts.rows[0] ?? {}
    t.ok(tenant > 0 && all > tenant, `${table} has rows of both tenants`)
    const numbers = { none: 0, tenant, all }
    for (const kind of kinds) {
      const { SELECT, UPDATE, DELETE } = own[kind] ?? otherwise
      for (const [sql, reach] of [
        [`SELECT FROM ${table}`, SELECT],
        [`UPDATE ${table} SET tenant_id = tenant_id`, UPDATE],
        [`DELETE FROM ${table}`, DELETE],
      ] as const) {
        t.equal(
          await runIn(kind, { tenantId: mine.tenantId }, sql),
          numbers[reach],
          `${kind}: ${sql}`,
        )
      }
    }
  }
})

t.test('no scope lets the owner move a row to another tenant', async (t) => {
  const { mine, yours, runIn } = await setUp(t)
  for (const [table, kind] of [
    ['orders', 'erasure'],
    ['documents', 'erasure'],
    ['documents', 'move'],
    ['audit_log', 'erasure'],
  ] as const) {
    const sql = `UPDATE ${table} SET tenant_id = '${yours.tenantId}'`
    t.match(
      await runIn(kind, { tenantId: mine.tenantId }, sql),
      /row-level security/,
      `${kind}: ${sql}`,
    )
  }
})

t.test('the erasure of a person reaches the entries by and about the person alone', async (t) => {
  const { database, mine, yours, runIn } = await setUp(t)
  await database.admin.query(
    `INSERT INTO audit_log (action, outcome, user_id, target)
     VALUES ('customer-link', 'done', $1, 'cus_1 user ' || $2), ('customer-link', 'done', $1, 'cus_2 user ' || $1)`,
    [yours.userId, mine.userId],
  )
  const change = 'UPDATE audit_log SET ip = NULL'
  t.equal(await runIn('erasure', { userId: mine.userId }, change), 2)
  t.equal(await runIn('erasure', {}, change), 0)
  t.equal(await runIn('session', { userId: mine.userId }, change), 0)
})

async function setUp(t: Test) {
  const database = await createDatabase(t)
  const mine = await createUser(database)
  const yours = await createUser(database)
  for (const user of [mine, yours]) {
    await createChain(database, user)
    for (const [table, row] of parentsOf(user)) await database.admin.query(...insertion(table, row))
    for (const table of ['orders', 'posts_words', 'audit_log']) await giveRow(database, table, user)
  }
  const owner = new pg.Client({ connectionString: database.ownerUrl })
  await owner.connect()
  t.teardown(() => owner.end())
  /** The number of rows, or the message of the refusal. */
  const runIn = async (
    kind: string,
    { userId, tenantId }: { userId?: number; tenantId?: string },
    sql: string,
  ) => {
    await owner.query('BEGIN')
    try {
      await owner.query(`SELECT set_scope($1, '', $2, $3)`, [
        kind,
        userId ?? null,
        tenantId ?? null,
      ])
      return (await owner.query(sql)).rowCount
    } catch (error) {
      if (error instanceof pg.DatabaseError) return error.message
      throw error
    } finally {
      await owner.query('ROLLBACK')
    }
  }
  return { database, mine, yours, runIn }
}
