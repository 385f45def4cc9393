import type { Queryable } from '#src/db/system-database.ts'

/** A temporary tenant with one member, inside a transaction that is rolled back. */
export type IsolationTenant = { readonly tenantId: string; readonly userId: number }

type Insert = { text: string; values: unknown[] }

/**
 * An INSERT for each tenant table to which the application role may add rows, in the order of their
 * foreign keys. A test fails if one is missing. Other tables are only read.
 */
export const isolationRows: Readonly<Record<string, (tenant: IsolationTenant) => Insert>> = {
  orders: ({ tenantId, userId }) => ({
    text: `INSERT INTO orders (tenant_id, user_id, line_items, shipping_address, card_last4)
           VALUES ($1, $2, '[]', '{}', '0000')`,
    values: [tenantId, userId],
  }),
  posts: ({ tenantId, userId }) => ({
    text: `INSERT INTO posts (tenant_id, author_id, title, body) VALUES ($1, $2, 'canary', '')`,
    values: [tenantId, userId],
  }),
  teams: ({ tenantId }) => ({
    text: `INSERT INTO teams (tenant_id, name) VALUES ($1, 'canary')`,
    values: [tenantId],
  }),
  team_members: ({ tenantId, userId }) => ({
    text: `INSERT INTO team_members (tenant_id, team_id, user_id)
           VALUES ($1, coalesce((SELECT min(id) FROM teams WHERE tenant_id = $1), 0), $2)`,
    values: [tenantId, userId],
  }),
  folders: ({ tenantId }) => ({
    text: `INSERT INTO folders (tenant_id, team_id, name)
           VALUES ($1, coalesce((SELECT min(id) FROM teams WHERE tenant_id = $1), 0), 'canary')`,
    values: [tenantId],
  }),
  documents: ({ tenantId }) => ({
    text: `INSERT INTO documents (tenant_id, folder_id, team_id, title, body)
           VALUES ($1, coalesce((SELECT min(id) FROM folders WHERE tenant_id = $1), 0),
                   coalesce((SELECT min(id) FROM teams WHERE tenant_id = $1), 0), 'canary', '')`,
    values: [tenantId],
  }),
  // Uses the tenant's id as the id of its rows, so that no query is needed to find them.
  webhook_endpoints: ({ tenantId }) => ({
    text: `INSERT INTO webhook_endpoints (tenant_id, id, url, all_event_types, signature, secret)
           VALUES ($1, $1, 'https://canary.invalid', true, 'spec', '')`,
    values: [tenantId],
  }),
  outbound_events: ({ tenantId }) => ({
    text: `INSERT INTO outbound_events (tenant_id, id, type, body)
           VALUES ($1, 'msg_' || $1::uuid, 'canary', '')`,
    values: [tenantId],
  }),
  deliveries: ({ tenantId }) => ({
    text: `INSERT INTO deliveries (tenant_id, id, event_id, endpoint_id, event_type)
           VALUES ($1, $1, 'msg_' || $1::uuid, $1, 'canary')`,
    values: [tenantId],
  }),
  delivery_attempts: ({ tenantId }) => ({
    text: `INSERT INTO delivery_attempts (tenant_id, delivery_id, series, number, started_at, duration_ms)
           VALUES ($1, $1, 0, 1, now(), 0)`,
    values: [tenantId],
  }),
  endpoint_replays: ({ tenantId }) => ({
    text: `INSERT INTO endpoint_replays (tenant_id, endpoint_id, replay_from, replay_to, total)
           VALUES ($1, $1, now(), now(), 0)`,
    values: [tenantId],
  }),
  audit_log: ({ tenantId, userId }) => ({
    text: `INSERT INTO audit_log (action, outcome, tenant_id, user_id) VALUES ('canary', '', $1, $2)`,
    values: [tenantId, userId],
  }),
}

export function insertTenant(tenantId: string): Insert {
  return { text: `INSERT INTO tenants (id, name) VALUES ($1, 'canary')`, values: [tenantId] }
}

/** Inserts the member; the tenant must exist. */
export async function insertMember(
  connection: Queryable,
  tenantId: string,
): Promise<IsolationTenant> {
  const { rows } = await connection.query<{ id: string }>({
    text: 'INSERT INTO users (email) VALUES (NULL) RETURNING id',
  })
  const userId = Number(rows[0]?.id)
  await connection.query({
    text: `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'viewer')`,
    values: [tenantId, userId],
  })
  return { tenantId, userId }
}
