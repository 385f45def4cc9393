import { Prisma } from '#src/db/generated/client.ts'

/** The scope of a chain: a user in their active tenant. */
export type ChainScope = { readonly tenantId: string; readonly userId: number }

/**
 * The chain as a condition on a folder or a row in one: it belongs to one of the caller's teams. Every
 * query has it in its WHERE. Foreign keys guarantee the rest of the chain: a row has the team of its
 * folder, and a nested folder has the team of its parent. So the cost does not depend on depth.
 */
export function inReach(caller: ChainScope): Prisma.Sql {
  return Prisma.sql`tenant_id = ${caller.tenantId}::uuid AND team_id IN (${ownTeams(caller)})`
}

/**
 * The chain for a page of a list: the first rows by id that the caller can reach. An index returns the
 * first of each team, so the cost grows with the number of teams, not of rows.
 * @param matching condition on the rows
 * @param direction `ASC` or `DESC`
 */
export function firstInReach(
  table: Prisma.Sql,
  caller: ChainScope,
  { matching, direction, limit }: { matching: Prisma.Sql; direction: Prisma.Sql; limit: number },
): Prisma.Sql {
  const tenant = Prisma.sql`tenant_id = ${caller.tenantId}::uuid`
  return Prisma.sql`${tenant} AND id = ANY (ARRAY(
    SELECT first.id FROM (${ownTeams(caller)}) AS own
    CROSS JOIN LATERAL (
      SELECT id FROM ${table} WHERE ${tenant} AND team_id = own.team_id AND ${matching}
      ORDER BY id ${direction} LIMIT ${limit}
    ) AS first
    ORDER BY first.id ${direction} LIMIT ${limit}
  ))`
}

/** Read by every statement, so that access ends as soon as a user leaves a team. */
export function ownTeams({ tenantId, userId }: ChainScope): Prisma.Sql {
  return Prisma.sql`
    SELECT team_id FROM team_members
    WHERE tenant_id = ${tenantId}::uuid AND user_id = ${userId}`
}
