import { Prisma } from '#src/db/generated/client.ts'

/** The first lock: a person, in the tenant of the verified session. */
export type ChainScope = { readonly tenantId: string; readonly userId: number }

/**
 * The chain, as the condition on a folder or document: it belongs to a team of the caller's, who is
 * its member at the moment of the statement. Every check, list and change has it in its `where`.
 * The other links are keys of the database: a document has the team of its folder, and a nested
 * folder that of the one it is in, so nothing is walked here however deep the nesting.
 */
export function inReach(caller: ChainScope): Prisma.Sql {
  return Prisma.sql`tenant_id = ${caller.tenantId}::uuid AND team_id IN (${ownTeams(caller)})`
}

/**
 * Narrows a list of documents to its page, newest first: each team gives its newest few from an
 * index, so the cost grows with the teams of the caller and not with what they hold.
 * @param before the id behind which the page begins; null for the first one
 */
export function newestInReach(
  caller: ChainScope,
  { before, limit }: { before: bigint | null; limit: number },
): Prisma.Sql {
  const behind = before === null ? Prisma.sql`true` : Prisma.sql`id < ${before}`
  return Prisma.sql`id = ANY (ARRAY(
    SELECT newest.id FROM (${ownTeams(caller)}) AS own
    CROSS JOIN LATERAL (
      SELECT id FROM documents
      WHERE tenant_id = ${caller.tenantId}::uuid AND team_id = own.team_id AND ${behind}
      ORDER BY id DESC LIMIT ${limit}
    ) AS newest
    ORDER BY newest.id DESC LIMIT ${limit}
  ))`
}

function ownTeams({ tenantId, userId }: ChainScope): Prisma.Sql {
  return Prisma.sql`
    SELECT team_id FROM team_members
    WHERE tenant_id = ${tenantId}::uuid AND user_id = ${userId}`
}
