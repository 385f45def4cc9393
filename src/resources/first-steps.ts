import type { Member } from '#src/access/caller.ts'
import type { Tx } from '#src/db/database.ts'

/** What an admin of a new tenant does first, and whether it was done. */
export type FirstSteps = {
  hasToken: boolean
  hasOrder: boolean
  hasEndpoint: boolean
  hasTest: boolean
  hasInvited: boolean
}

/** Reads the first steps of the caller's tenant. Each is answered by the first row of an index. */
export async function readFirstSteps(
  tx: Tx,
  { tenantId, userId }: Pick<Member, 'tenantId' | 'userId'>,
): Promise<FirstSteps> {
  const [row] = await tx.$queryRaw<FirstSteps[]>`
    SELECT
      EXISTS (SELECT FROM api_tokens
        WHERE user_id = ${userId} AND tenant_id = ${tenantId}::uuid) AS "hasToken",
      EXISTS (SELECT FROM orders WHERE user_id = ${userId}) AS "hasOrder",
      EXISTS (SELECT FROM webhook_endpoints WHERE tenant_id = ${tenantId}::uuid) AS "hasEndpoint",
      EXISTS (SELECT FROM outbound_events
        WHERE tenant_id = ${tenantId}::uuid AND type = 'endpoint.test') AS "hasTest",
      EXISTS (SELECT FROM tenant_invitations WHERE tenant_id = ${tenantId}::uuid)
        OR (SELECT count(*) > 1 FROM (
          SELECT FROM tenant_members WHERE tenant_id = ${tenantId}::uuid LIMIT 2
        ) AS members) AS "hasInvited"`
  if (row === undefined) throw new Error('a query without FROM has one row')
  return row
}
