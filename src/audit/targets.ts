import type { Tx } from '#src/db/database.ts'
import { uuidForm } from '#src/http/schemas.ts'

/** What audit entries are about, as far as it still exists: its name by its id. */
export type AuditTargets = ReadonlyMap<string, string>

type Scope = { readonly userId: number; readonly tenantId: string | null }

/**
 * The names of the tokens, endpoints, deliveries and invitations that the entries name, of those that
 * exist in the tenant. API tokens are those of the user.
 */
export async function findTargets(
  tx: Tx,
  { userId, tenantId }: Scope,
  entries: readonly { readonly target: string | null }[],
): Promise<AuditTargets> {
  const ids = [...new Set(entries.flatMap(({ target }) => target ?? []))].filter((id) =>
    uuidForm.test(id),
  )
  if (ids.length === 0) return new Map()
  const rows = await tx.sql<{ id: string; name: string }>`
    SELECT id::text, url AS name FROM webhook_endpoints
    WHERE tenant_id = ${tenantId}::uuid AND id = ANY (${ids}::uuid[])
    UNION ALL
    SELECT id::text, event_type FROM deliveries
    WHERE tenant_id = ${tenantId}::uuid AND id = ANY (${ids}::uuid[])
    UNION ALL
    SELECT id::text, name FROM service_tokens
    WHERE tenant_id = ${tenantId}::uuid AND id = ANY (${ids}::uuid[])
    UNION ALL
    SELECT id::text, email FROM invitations
    WHERE tenant_id = ${tenantId}::uuid AND id = ANY (${ids}::uuid[])
    UNION ALL
    SELECT id::text, name FROM api_tokens
    WHERE user_id = ${userId}::bigint AND id = ANY (${ids}::uuid[])`
  return new Map(rows.map(({ id, name }) => [id, name]))
}
