import type pg from 'pg'
import type { TestUser } from '#dev/testing/people.ts'

export type CitusTenant = {
  tenantId: string
  userId: number
  /** What enter_session takes. */
  credential: Buffer
}

/**
 * A tenant with one member, a session, and a row in every distributed table, written as a superuser.
 * Values are looked up first: Citus accepts no subqueries in VALUES.
 */
export async function createCitusTenant(admin: pg.Pool): Promise<CitusTenant> {
  const tenantId = crypto.randomUUID()
  const credential = Buffer.from(crypto.getRandomValues(new Uint8Array(32)))
  const insert = insertInto(admin)
  await insert(`INSERT INTO tenants (id, name) VALUES ($1, 'A tenant')`, tenantId)
  await insert('INSERT INTO tenant_usage (tenant_id) VALUES ($1) ON CONFLICT DO NOTHING', tenantId)
  const userId = await insert(
    'INSERT INTO users (email, email_verified, own_tenant_id) VALUES ($1, true, $2) RETURNING id',
    `${tenantId}@people.example`,
    tenantId,
  )
  await insert(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'admin')`,
    tenantId,
    userId,
  )
  await insert(
    `INSERT INTO sessions (id_hash, user_id, tenant_id, provider, expires_at, authenticated_at)
     VALUES (sha256($1), $2, $3, 'demo', now() + interval '1 day', now())`,
    credential,
    userId,
    tenantId,
  )
  await fillTenant(admin, { tenantId, userId })
  return { tenantId, userId, credential }
}

/** A row of a tenant in every distributed table; resolves to the ids of those that are read by id. */
export async function fillTenant(admin: pg.Pool, { tenantId, userId }: TestUser) {
  const insert = insertInto(admin)
  const teamId = await insert(
    `INSERT INTO teams (tenant_id, name) VALUES ($1, 'x') RETURNING id`,
    tenantId,
  )
  await insert(
    'INSERT INTO team_members (tenant_id, team_id, user_id) VALUES ($1, $2, $3)',
    tenantId,
    teamId,
    userId,
  )
  const folderId = await insert(
    `INSERT INTO folders (tenant_id, team_id, name) VALUES ($1, $2, 'x') RETURNING id`,
    tenantId,
    teamId,
  )
  const document = await insert(
    `INSERT INTO documents (tenant_id, folder_id, team_id, title, body) VALUES ($1, $2, $3, 'x', '')
     RETURNING id`,
    tenantId,
    folderId,
    teamId,
  )
  const order = await insert(
    `INSERT INTO orders (tenant_id, user_id, line_items, shipping_address, card_last4)
     VALUES ($1, $2, '[]', '{"name":"x","line1":"x","city":"x","postalCode":"x","country":"PT"}', '0000')
     RETURNING id`,
    tenantId,
    userId,
  )
  const post = await insert(
    `INSERT INTO posts (tenant_id, author_id, title, body) VALUES ($1, $2, 'x', '') RETURNING id`,
    tenantId,
    userId,
  )
  const invoice = await insert(
    `INSERT INTO invoices (tenant_id, amount, currency, status) VALUES ($1, 1, 'eur', 'paid') RETURNING id`,
    tenantId,
  )
  for (const statement of [
    `INSERT INTO webhook_endpoints (tenant_id, id, url, signature, secret)
     VALUES ($1, $1, 'https://receiver.example', 'spec', '')`,
    'INSERT INTO endpoint_states (tenant_id, id) VALUES ($1, $1)',
    'INSERT INTO endpoint_probes (tenant_id, id) VALUES ($1, $1)',
    `INSERT INTO outbound_events (tenant_id, id, type, body) VALUES ($1, 'msg_' || $1::uuid, 'subscription.activated',
       json_build_object('id', 'msg_' || $1::uuid, 'type', 'subscription.activated', 'createdAt', now(),
                         'data', json_build_object('userId', 1, 'plan', 'pro')))`,
    `INSERT INTO deliveries (tenant_id, id, event_id, endpoint_id, event_type)
     VALUES ($1, $1, 'msg_' || $1::uuid, $1, 'x')`,
    `INSERT INTO delivery_attempts (tenant_id, delivery_id, series, number, started_at, duration_ms)
     VALUES ($1, $1, 0, 1, now(), 0)`,
    `INSERT INTO due_attempts (tenant_id, delivery_id, endpoint_id, due_at, series, number)
     VALUES ($1, $1, $1, now(), 0, 1)`,
    `INSERT INTO notifications (tenant_id, kind, endpoint_id, message)
     VALUES ($1, 'endpoint.failing', $1, 'x')`,
    `INSERT INTO endpoint_replays (tenant_id, endpoint_id, replay_from, replay_to, total)
     VALUES ($1, $1, now(), now(), 0)`,
    `INSERT INTO usage_changes (tenant_id, resource_rows, resource_bytes, event_rows, event_bytes)
     VALUES ($1, 0, 0, 0, 0)`,
  ]) {
    await insert(statement, tenantId)
  }
  return { team: teamId, folder: folderId, document, order, post, invoice }
}

/** Inserts a row, and resolves to the id that the statement returns. */
function insertInto(admin: pg.Pool) {
  return async (text: string, ...values: unknown[]): Promise<number> => {
    const { rows } = await admin.query<{ id?: string }>(text, values)
    return Number(rows[0]?.id)
  }
}

export type Place = { shard: string; port: number }

/** The shard of a table that has the rows of a tenant, and the port of its node. */
export async function placeOf(
  admin: pg.Pool,
  { tenantId }: Pick<TestUser, 'tenantId'>,
  table = 'orders',
): Promise<Place> {
  const { rows } = await admin.query<Place>(
    `SELECT s.id AS shard, n.nodeport AS port
     FROM get_shard_id_for_distribution_column($2::regclass, $1::uuid) s (id)
     JOIN pg_dist_placement p ON p.shardid = s.id JOIN pg_dist_node n USING (groupid)`,
    [tenantId, table],
  )
  return rows[0] ?? { shard: '', port: 0 }
}
