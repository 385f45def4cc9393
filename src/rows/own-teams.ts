import { ownTeams } from '#src/access/relations.ts'
import type { Tx } from '#src/db/database.ts'
import type { Asking } from '#src/resources/kit/fields/field.ts'

/**
 * The ids of the caller's teams in their tenant, for conditions. In a write they stay the same until it ends: leaving a
 * team waits for the membership, which the entry has locked.
 */
export async function findOwnTeams(
  tx: Pick<Tx, 'sql'>,
  { userId, tenantId }: Pick<Asking, 'userId' | 'tenantId'>,
): Promise<number[]> {
  if (userId === null || tenantId === null) return []
  const rows = await tx.sql<{ team_id: unknown }>(ownTeams({ userId, tenantId }))
  return rows.map(({ team_id }) => Number(team_id))
}
