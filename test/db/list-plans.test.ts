import pg from 'pg'
import t, { type Test } from 'tap'
import { createUser, type TestUser } from '#dev/testing/people.ts'
import { documents } from '#shop/resources/documents.ts'
import { orders } from '#shop/resources/orders.ts'
import { posts } from '#shop/resources/posts.ts'
import { countOwnAudit, listOwnAudit, listTenantAudit } from '#src/audit/list.ts'
import { listMembers } from '#src/auth/members/members.ts'
import { countReceived, listReceived } from '#src/billing/events.ts'
import type { Tx } from '#src/db/database.ts'
import type { Page } from '#src/http/lists/pagination.ts'
import { invoices } from '#src/resources/invoices.ts'
import { actionsOf } from '#src/rows/actions.ts'
import type { ListFilter } from '#src/rows/lists.ts'
import { listRecentEvents, readFeed } from '#src/webhooks/events/feed.ts'
import { countDeliveries, listDeliveries } from '#src/webhooks/history/deliveries.ts'
import { createChain } from '#test/support/callers/chain.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { openPatiently } from '#test/support/database/open.ts'
import { allowScopes } from '#test/support/database/scope.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

const { list: listDocuments } = actionsOf(documents)
const { list: listInvoices } = actionsOf(invoices)
const { list: listOrders } = actionsOf(orders)
const { list: listPosts } = actionsOf(posts)

const rows = 20_000
const searched = 500
const page: Page = { limit: 20, after: null }
const hour = { from: '2026-03-01T10:00:00Z', to: '2026-03-01T11:00:00Z' }
const rare = '7'
// One row a minute, so an hour has 60 of them; one of 1,000 is rare.
const minutes = `'2026-03-01T00:00:00Z'::timestamptz + n * interval '1 minute'`

/** A scan of any other table is cheap here: it has a few rows. */
const filledTables = [
  'orders',
  'posts',
  'invoices',
  'documents',
  'users',
  'memberships',
  'audit_log',
  'outbound_events',
  'deliveries',
  'received_events',
]

type Filled = { user: TestUser; other: TestUser; endpointId: string; folderId: number }

/** Lists with so many rows that scanning one is a choice that the planner would not make. */
async function fill(database: TestDatabase): Promise<Filled> {
  const { admin } = database
  const [user, other] = [await createUser(database), await createUser(database)]
  const { folderId, teamId } = await createChain(database, user)
  const endpointId = await createEndpoint(database, user, { url: 'https://a.example/' })
  const { userId, tenantId } = user
  const client = await admin.connect()
  try {
    // Without triggers and foreign keys: only the plans matter here.
    await client.query(`SET session_replication_role = replica`)
    const insert = (text: string, values: unknown[]) =>
      client.query(`${text} FROM generate_series(1, ${rows}) AS n`, values)
    await insert(
      `INSERT INTO orders (tenant_id, user_id, line_items, shipping_address, card_last4, created_at)
       SELECT CASE WHEN n % 1000 = 0 THEN $2::uuid ELSE $1::uuid END, $3, '[]', '{}', '4242', ${minutes}`,
      [tenantId, other.tenantId, userId],
    )
    await insert(
      `INSERT INTO posts (tenant_id, author_id, department, title, body, created_at)
       SELECT $1, CASE WHEN n % 1000 = 0 THEN ${rare} ELSE $2 END,
         CASE WHEN n % 1000 = 0 THEN 'rare' ELSE 'sales' END, 'x', 'x', ${minutes}`,
      [tenantId, userId],
    )
    await insert(
      `INSERT INTO invoices (tenant_id, amount, currency, status, created_at)
       SELECT $1, 1, CASE WHEN n % 1000 = 0 THEN 'isk' ELSE 'eur' END, 'paid', ${minutes}`,
      [tenantId],
    )
    await insert(
      `INSERT INTO documents (tenant_id, folder_id, team_id, title, body, created_at)
       SELECT $1, CASE WHEN n % 1000 = 0 THEN $2::bigint ELSE 999999 END, $3, 'x', 'x', ${minutes}`,
      [tenantId, folderId, teamId],
    )
    await insert(
      `INSERT INTO users (email, created_at) SELECT n || '@list.example', ${minutes}`,
      [],
    )
    await client.query(
      `INSERT INTO memberships (tenant_id, user_id, role, department, created_at)
       SELECT $1, id, CASE WHEN id % 1000 = 0 THEN 'editor' ELSE 'viewer' END,
         CASE WHEN id % 1000 = 0 THEN 'rare' ELSE 'sales' END, created_at
       FROM users WHERE email LIKE '%@list.example'`,
      [tenantId],
    )
    await insert(
      `INSERT INTO audit_log (at, action, outcome, user_id, tenant_id)
       SELECT ${minutes}, CASE WHEN n % 1000 = 0 THEN 'token-create' ELSE 'sign-in' END,
         CASE WHEN n % 1000 = 0 THEN 'refused' ELSE 'done' END,
         CASE WHEN n % 1000 = 0 THEN ${rare} ELSE $1 END, $2`,
      [userId, tenantId],
    )
    await insert(
      `INSERT INTO outbound_events (tenant_id, id, type, body, created_at, xact_id)
       SELECT $1, 'msg_' || md5(n::text), CASE WHEN n % 1000 = 0 THEN 'post.deleted' ELSE 'post.updated' END,
         '{}', ${minutes}, (n / 10)::text::xid8`,
      [tenantId],
    )
    await insert(
      `INSERT INTO deliveries (tenant_id, event_id, endpoint_id, event_type, status, created_at,
         finished_at, stored_attempts, http_status, unusual_status, unusual_class)
       SELECT $1, 'msg_' || md5(n::text), $2, 'post.updated', 'succeeded', ${minutes}, now(), 1,
         CASE WHEN n % 1000 = 1 THEN 404 WHEN n % 1000 = 2 THEN 0 WHEN n % 5 = 0 THEN 503 ELSE 200 END,
         CASE WHEN n % 1000 = 1 THEN 404 WHEN n % 1000 = 2 THEN 0 WHEN n % 5 = 0 THEN 503 END,
         CASE WHEN n % 1000 = 1 THEN 4 WHEN n % 1000 = 2 THEN 0 WHEN n % 5 = 0 THEN 5 END`,
      [tenantId, endpointId],
    )
    await insert(
      `INSERT INTO received_events (event_id, type, secret_index, status, received_at)
       SELECT 'evt_' || n, 'charge.succeeded', 0,
         CASE WHEN n % 1000 = 0 THEN 'dead' ELSE 'processed' END, ${minutes}`,
      [],
    )
    await client.query('SET session_replication_role = origin')
    await client.query('ANALYZE')
  } finally {
    client.release(true)
  }
  return { user, other, endpointId, folderId }
}

type Statement = { text: string; values: unknown[] }

/** Every statement that this process sends while `work` runs. */
async function statementsOf(work: () => Promise<unknown>): Promise<Statement[]> {
  const sent: Statement[] = []
  const { prototype } = pg.Client
  const { query } = prototype
  prototype.query = function record(this: pg.Client, ...args: unknown[]) {
    const [statement, values] = args
    const { text = statement, values: own = values } = Object(statement)
    if (typeof text === 'string') sent.push({ text, values: Array.isArray(own) ? own : [] })
    return Reflect.apply(query, this, args)
  } as typeof query
  try {
    await work()
  } finally {
    prototype.query = query
  }
  return sent
}

type Plan = {
  'Node Type': string
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Plan[]
}

function nodesOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
}

/** Rows that the scans of a plan have looked at. */
function rowsRead(nodes: readonly Plan[]): number {
  const scans = nodes.filter((node) => node['Relation Name'] !== undefined)
  const seen = scans.map(
    (node) => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
  )
  return seen.reduce((sum, count) => sum + count, 0)
}

async function setUp(t: Test) {
  const database = await createDatabase(t)
  const filled = await fill(database)
  const entryOf = await allowScopes<TestUser>(database)
  const db = openPatiently(t, database.url, 2)
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  t.teardown(() => client.end())

  /** The plans of the list's statements, run as the application role in the user's scope. */
  async function plansOf(list: (tx: Tx) => Promise<unknown>): Promise<Plan[]> {
    const sent = await statementsOf(() => db.read(entryOf(filled.user), list))
    const reads = sent.filter(({ text }) => /^\s*SELECT/.test(text) && !text.includes('enter_test'))
    const enter = entryOf(filled.user).statement(false)
    await client.query('BEGIN')
    try {
      await client.query({ text: enter.text, values: [...(enter.values ?? [])] })
      const plans: Plan[] = []
      for (const { text, values } of reads) {
        const { rows } = await client.query({
          text: `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
          values,
        })
        plans.push(rows[0]['QUERY PLAN'][0].Plan)
      }
      return plans
    } finally {
      await client.query('ROLLBACK')
    }
  }
  return { ...filled, plansOf }
}

t.test('no filter of a list scans its table; each reads few rows to find rare ones', async (t) => {
  const { user, other, endpointId, folderId, plansOf } = await setUp(t)
  const orders =
    (filter: ListFilter, of = page) =>
    (tx: Tx) =>
      listOrders(tx, user, of, filter)
  const posts =
    (filter: ListFilter, of = page) =>
    (tx: Tx) =>
      listPosts(tx, user, of, filter)
  const invoices =
    (filter: ListFilter, of = page) =>
    (tx: Tx) =>
      listInvoices(tx, user, of, filter)
  const documents =
    (filter: ListFilter, of = page) =>
    (tx: Tx) =>
      listDocuments(tx, user, of, filter)
  const members =
    (filter: object, of = page) =>
    (tx: Tx) =>
      listMembers(tx, user, of, filter)
  const audit =
    (filter: object, of = page) =>
    (tx: Tx) =>
      listTenantAudit(tx, user, of, filter)
  const own =
    (filter: object, of = page) =>
    (tx: Tx) =>
      listOwnAudit(tx, user, of, filter)
  const feed = (filter: object) => (tx: Tx) => readFeed(tx, user, page, filter)
  const recent = (filter: object) => (tx: Tx) => listRecentEvents(tx, user, page, filter)
  const received =
    (filter: object, of = page) =>
    (tx: Tx) =>
      listReceived(tx, filter, of)
  const deliveries =
    (filter: object, of = page) =>
    (tx: Tx) =>
      listDeliveries(tx, user, endpointId, filter, of, searched)
  const count = (filter: object) => (tx: Tx) =>
    countDeliveries(tx, user, endpointId, filter, searched)
  const countOf = (filter: object) => (tx: Tx) => countReceived(tx, filter, searched)
  const reversed = { ...page, isReversed: true }
  const lists: Record<string, (tx: Tx) => Promise<unknown>> = {
    'orders by tenant': orders({ tenantId: other.tenantId }),
    'orders by time': orders(hour),
    'orders since a time': orders({ from: hour.from }, reversed),
    'orders, oldest first': orders({}, reversed),
    'posts by author': posts({ authorId: rare }),
    'posts by department': posts({ department: 'rare' }),
    'posts by time': posts(hour),
    'posts, oldest first': posts({}, reversed),
    'invoices by currency': invoices({ currency: 'isk' }),
    'invoices by time': invoices(hour),
    'invoices, oldest first': invoices({}, reversed),
    'documents by folder': documents({ folderId: String(folderId) }),
    'documents by time': documents(hour),
    'documents, oldest first': documents({}, reversed),
    'members by role': members({ role: 'editor' }),
    'members by department': members({ department: 'rare' }),
    'members by time': members(hour),
    'members, oldest first': members({}, reversed),
    'audit by action': audit({ action: 'token-create' }),
    'audit by outcome': audit({ outcome: 'refused' }),
    'audit by user': audit({ userId: rare }),
    'audit by time': audit(hour),
    'audit, oldest first': audit({}, reversed),
    'own audit by action': own({ action: 'token-create' }),
    'own audit by time': own(hour),
    'events by type': feed({ type: 'post.deleted' }),
    'events by time': feed(hour),
    'events, newest first': recent({}),
    'events by type, newest first': recent({ type: 'post.deleted' }),
    'deliveries by time': deliveries(hour),
    'deliveries of an event': deliveries({ eventId: 'msg_7' }),
    'deliveries, oldest first': deliveries({}, reversed),
    'deliveries by rare HTTP status': deliveries({ httpStatus: '404' }),
    'deliveries by frequent HTTP status': deliveries({ httpStatus: '503' }),
    'deliveries by class of HTTP status': deliveries({ httpStatus: '4xx' }),
    'deliveries by frequent class of HTTP status': deliveries({ httpStatus: '5xx' }),
    'deliveries without a response': deliveries({ httpStatus: 'none' }, reversed),
    'deliveries by HTTP status 200': deliveries({ httpStatus: '200' }),
    'deliveries by rare HTTP status 2xx': deliveries({ httpStatus: '204' }),
    'deliveries by status': deliveries({ status: 'exhausted' }),
    'deliveries by status, oldest first': deliveries({ status: 'exhausted' }, reversed),
    'deliveries by type': deliveries({ eventType: 'post.deleted' }),
    'number of deliveries': count({}),
    'number of deliveries by status': count({ status: 'exhausted' }),
    'received events by status': received({ status: 'dead' }),
    'received events by time': received(hour),
    'received events, oldest first': received({}, reversed),
    'number of received events by status': countOf({ status: 'dead' }),
    'number of received events by time': countOf(hour),
    'number of received events by type': countOf({ type: 'a.rare.type' }),
    'number of own audit entries by action': (tx) =>
      countOwnAudit(tx, user, { action: 'token-create' }),
  }
  for (const [name, list] of Object.entries(lists)) {
    const plans = await plansOf(list)
    t.ok(plans.length > 0, `${name}: ${plans.length} statements`)
    const nodes = plans.flatMap(nodesOf)
    const scanned = nodes.filter((node) => node['Node Type'] === 'Seq Scan')
    const tables = scanned.map((node) => node['Relation Name'] ?? '')
    t.same(
      tables.filter((table) => filledTables.includes(table)),
      [],
      `${name}: sequential scans`,
    )
    const read = rowsRead(nodes)
    t.ok(read < rows / 20, `${name}: ${read} rows read`)
  }
})

t.test('a filter without an index would be found', async (t) => {
  const { plansOf } = await setUp(t)
  const plans = await plansOf((tx) => tx.sql`SELECT id FROM posts WHERE title = 'rare'`)
  const read = rowsRead(plans.flatMap(nodesOf))
  t.ok(read >= rows, `${read} rows read`)
})
