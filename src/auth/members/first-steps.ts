import type { Member } from '#src/access/caller.ts'
import type { Tx } from '#src/db/database.ts'

/** What an admin of a new tenant does first, and whether it was done. */
export type FirstSteps = {
  hasToken: boolean
  hasEndpoint: boolean
  hasTest: boolean
  hasInvited: boolean
}

/**
 * Reads the first steps of the caller's tenant. Each is answered by the first rows of an index.
 */
export async function readFirstSteps(
  tx: Tx,
  { tenantId, userId }: Pick<Member, 'tenantId' | 'userId'>,
): Promise<FirstSteps> {
  const [[row], members] = await Promise.all([
    tx.sql<FirstSteps>`
      SELECT
        EXISTS (SELECT 1 FROM api_tokens
          WHERE user_id = ${userId} AND tenant_id = ${tenantId}::uuid) AS "hasToken",
        EXISTS (SELECT 1 FROM webhook_endpoints WHERE tenant_id = ${tenantId}::uuid) AS "hasEndpoint",
        EXISTS (SELECT 1 FROM outbound_events
          WHERE tenant_id = ${tenantId}::uuid AND type = 'endpoint.test') AS "hasTest",
        EXISTS (SELECT 1 FROM tenant_invitations WHERE tenant_id = ${tenantId}::uuid) AS "hasInvited"`,
    tx.sql<object>`
      SELECT 1 FROM tenant_members WHERE tenant_id = ${tenantId}::uuid LIMIT 2`,
  ])
  if (row === undefined) throw new Error('a query without FROM has one row')
  return { ...row, hasInvited: row.hasInvited || members.length > 1 }
}
