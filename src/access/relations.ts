import { Prisma } from '#src/db/generated/client.ts'

/** The first lock: a person, in the tenant of the verified session. */
export type ChainScope = { readonly tenantId: string; readonly userId: number }

/**
 * The chain, as the condition on a folder or document: it belongs to a team of the caller's. Every
 * check and change has it in its `where`. The other links are keys of the database: a document has
 * the team of its folder, and a nested folder that of the one it is in, so nothing is walked here
 * however deep the nesting.
 */
export function inReach(caller: ChainScope): Prisma.Sql {
  return Prisma.sql`tenant_id = ${caller.tenantId}::uuid AND team_id IN (${ownTeams(caller)})`
}

/**
 * The chain for a page of a list of documents: the newest in reach. Each team of the caller's gives
 * its own newest few from an index, so the cost grows with these teams and not with what they hold.
 * @param before the id behind which the page begins; null for the first one
 */
export function newestInReach(
  caller: ChainScope,
  { before, limit }: { before: bigint | null; limit: number },
): Prisma.Sql {
  const tenant = Prisma.sql`tenant_id = ${caller.tenantId}::uuid`
  const behind = before === null ? Prisma.sql`true` : Prisma.sql`id < ${before}`
  return Prisma.sql`${tenant} AND id = ANY (ARRAY(
    SELECT newest.id FROM (${ownTeams(caller)}) AS own
    CROSS JOIN LATERAL (
      SELECT id FROM documents WHERE ${tenant} AND team_id = own.team_id AND ${behind}
      ORDER BY id DESC LIMIT ${limit}
    ) AS newest
    ORDER BY newest.id DESC LIMIT ${limit}
  ))`
}

/** The first link, read anew by every statement: whoever has left a team is out at once. */
function ownTeams({ tenantId, userId }: ChainScope): Prisma.Sql {
  return Prisma.sql`
    SELECT team_id FROM team_members
    WHERE tenant_id = ${tenantId}::uuid AND user_id = ${userId}`
}
