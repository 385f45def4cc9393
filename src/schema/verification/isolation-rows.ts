import { freeId, isolationRowsOf } from '#src/resources/kit/derived.ts'
import { resources } from '#src/resources/running-app.ts'

/** A tenant with one member that exists only inside one transaction. */
export type IsolationTenant = { readonly tenantId: string; readonly userId: number }

type Insert = { text: string; values: unknown[] }

/**
 * One row for each tenant table that the web role may insert into, in the order of their foreign
 * keys. A test fails if such a table has no entry; the other tables are only read. Ids are given, because a
 * sequence is not rolled back.
 */
export const isolationRows: Readonly<Record<string, (tenant: IsolationTenant) => Insert>> = {
  teams: ({ tenantId }) => ({
    text: `INSERT INTO teams (tenant_id, id, name) OVERRIDING SYSTEM VALUE
           VALUES ($1, ${freeId}, 'isolation test')`,
    values: [tenantId],
  }),
  team_members: ({ tenantId, userId }) => ({
    text: `INSERT INTO team_members (tenant_id, team_id, user_id)
           VALUES ($1, coalesce((SELECT min(id) FROM teams WHERE tenant_id = $1), 0), $2)`,
    values: [tenantId, userId],
  }),
  folders: ({ tenantId }) => ({
    text: `INSERT INTO folders (tenant_id, id, team_id, name) OVERRIDING SYSTEM VALUE
           VALUES ($1, ${freeId}, coalesce((SELECT min(id) FROM teams WHERE tenant_id = $1), 0), 'isolation test')`,
    values: [tenantId],
  }),
  ...isolationRowsOf(resources),
  // The id is that of the tenant, so that later rows can refer to it.
  webhook_endpoints: ({ tenantId }) => ({
    text: `INSERT INTO webhook_endpoints (tenant_id, id, url, signature, secret)
           VALUES ($1, $1, 'https://isolation-test.invalid', 'spec', '')`,
    values: [tenantId],
  }),
  endpoint_states: ({ tenantId }) => ({
    text: 'INSERT INTO endpoint_states (tenant_id, id) VALUES ($1, $1)',
    values: [tenantId],
  }),
  endpoint_probes: ({ tenantId }) => ({
    text: 'INSERT INTO endpoint_probes (tenant_id, id) VALUES ($1, $1)',
    values: [tenantId],
  }),
  outbound_events: ({ tenantId }) => ({
    text: `INSERT INTO outbound_events (tenant_id, id, sequence, type, body) OVERRIDING SYSTEM VALUE
           VALUES ($1, 'msg_' || $1::uuid, ${freeId}, 'isolation test', '')`,
    values: [tenantId],
  }),
  deliveries: ({ tenantId }) => ({
    text: `INSERT INTO deliveries (tenant_id, id, event_id, endpoint_id, event_type)
           VALUES ($1, $1, 'msg_' || $1::uuid, $1, 'isolation test')`,
    values: [tenantId],
  }),
  delivery_attempts: ({ tenantId }) => ({
    text: `INSERT INTO delivery_attempts (tenant_id, delivery_id, series, number, started_at, duration_ms)
           VALUES ($1, $1, 0, 1, now(), 0)`,
    values: [tenantId],
  }),
  due_attempts: ({ tenantId }) => ({
    text: `INSERT INTO due_attempts (tenant_id, delivery_id, endpoint_id, due_at, series, number)
           VALUES ($1, $1, $1, now(), 0, 1)`,
    values: [tenantId],
  }),
  endpoint_replays: ({ tenantId }) => ({
    text: `INSERT INTO endpoint_replays (tenant_id, endpoint_id, replay_from, replay_to, total)
           VALUES ($1, $1, now(), now(), 0)`,
    values: [tenantId],
  }),
  audit_log: ({ tenantId, userId }) => ({
    text: `INSERT INTO audit_log (id, action, outcome, tenant_id, user_id) OVERRIDING SYSTEM VALUE
           VALUES (${freeId}, 'isolation test', '', $1, $2)`,
    values: [tenantId, userId],
  }),
}

export function insertTenant(tenantId: string): Insert {
  return {
    text: `INSERT INTO tenants (id, name) VALUES ($1, 'isolation test')`,
    values: [tenantId],
  }
}
