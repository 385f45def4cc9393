import { type Actor, recordChange } from '#src/audit/audit.ts'
import type { Tx } from '#src/db/database.ts'
import {
  type Endpoint,
  type EndpointRow,
  endpointColumns,
  findEndpoint,
  toEndpoint,
} from '#src/webhooks/endpoints/endpoints.ts'

/**
 * Begins a new life of a failing or disabled endpoint: what failed before counts no more. One that
 * is active stays as it is. Null when it is missing or not theirs.
 */
export async function enableEndpoint(
  tx: Tx,
  by: Actor,
  id: string,
  now: Date,
): Promise<Endpoint | null> {
  const [row] = await tx.$queryRaw<EndpointRow[]>`
    UPDATE webhook_endpoints SET status = 'active', enabled_at = ${now}, updated_at = ${now},
      failing_since = NULL, disabled_at = NULL
    WHERE tenant_id = ${by.tenantId}::uuid AND id = ${id}::uuid AND status <> 'active'
    RETURNING ${endpointColumns}`
  if (row === undefined) return findEndpoint(tx, by, id)
  await recordChange(tx, by, { action: 'endpoint-enable', reason: 'own-request', target: id })
  return toEndpoint(row)
}
