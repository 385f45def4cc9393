import { anOrder } from '../orders.ts'
import type { Contender } from './servers.ts'

/** Ids of people, orders and posts, beside those that the database generates. */
const firstId = 1_000_000_000
// One transaction holds a lock for each tenant whose rows it counts.
const batch = 5_000

const filled = [
  'tenants',
  'tenant_usage',
  'users',
  'memberships',
  'sessions',
  'orders',
  'posts',
  'webhook_endpoints',
  'endpoint_states',
]

/** The person of tenant `n`, its only member, and their order and post. */
export function idOf(n: number): number {
  return firstId + n
}

/** The id of the session of this person. */
export function sessionOf(n: number): string {
  return `pzzzzzz-bench-${idOf(n)}` // issued in the far future
}

const tenant = `md5('tenant ' || n)::uuid`
const id = `${firstId} + n`

/**
 * Each tenant has one member, a session, an order, a post and an endpoint. The same statements on both sides: from
 * one table each, as Citus needs it.
 */
const statements = [
  `INSERT INTO tenants (id, name) SELECT ${tenant}, 'Tenant ' || n FROM generate_series($1::int, $2) n`,
  // A trigger has added it, except with Citus, where the functions that create tenants do.
  `INSERT INTO tenant_usage (tenant_id) SELECT ${tenant} FROM generate_series($1::int, $2) n
   ON CONFLICT DO NOTHING`,
  `INSERT INTO users (id, own_tenant_id) OVERRIDING SYSTEM VALUE
   SELECT ${id}, ${tenant} FROM generate_series($1::int, $2) n`,
  `INSERT INTO memberships (tenant_id, user_id, role)
   SELECT ${tenant}, ${id}, 'admin' FROM generate_series($1::int, $2) n`,
  `INSERT INTO sessions (id_hash, user_id, tenant_id, provider, authenticated_at, expires_at)
   SELECT sha256(sha256(convert_to('pzzzzzz-bench-' || ${id}, 'UTF8'))), ${id}, ${tenant}, 'demo', now(),
     now() + interval '1 day'
   FROM generate_series($1::int, $2) n`,
  `INSERT INTO orders (id, tenant_id, user_id, line_items, shipping_address, card_last4)
   OVERRIDING SYSTEM VALUE
   SELECT ${id}, ${tenant}, ${id}, '${JSON.stringify(anOrder.lineItems)}'::jsonb,
     '${JSON.stringify(anOrder.shippingAddress)}'::jsonb, '${anOrder.cardLast4}'
   FROM generate_series($1::int, $2) n`,
  `INSERT INTO posts (id, tenant_id, author_id, title, body) OVERRIDING SYSTEM VALUE
   SELECT ${id}, ${tenant}, ${id}, 'A post', repeat('as long as a short post is ', 10)
   FROM generate_series($1::int, $2) n`,
  `INSERT INTO webhook_endpoints (tenant_id, id, url, signature, secret)
   SELECT ${tenant}, ${tenant}, 'https://receiver.example', 'spec', ''
   FROM generate_series($1::int, $2) n`,
  `INSERT INTO endpoint_states (tenant_id, id)
   SELECT ${tenant}, ${tenant} FROM generate_series($1::int, $2) n`,
]

/** Adds tenants until there are `count`. */
export async function addTenants(
  { servers }: Contender,
  existing: number,
  count: number,
): Promise<void> {
  const admin = servers[0]?.admin
  for (let from = existing; from < count; from += batch) {
    const last = Math.min(from + batch, count) - 1
    await admin?.query('BEGIN')
    for (const statement of statements) await admin?.query(statement, [from, last])
    await admin?.query('COMMIT')
  }
}

/** Does now what the servers would do some time later. */
export async function settle({ servers }: Contender): Promise<void> {
  await servers[0]?.admin.query(`VACUUM ANALYZE ${filled.join()}`)
  for (const { admin } of servers) await admin.query('CHECKPOINT')
}
