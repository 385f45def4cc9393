import { Prisma } from '#src/db/generated/client.ts'

/** The first lock: a person, in the tenant of the verified session. */
export type ChainScope = { readonly tenantId: string; readonly userId: number }

/**
 * The first link of the chain, read anew by every statement. The other links are keys of the
 * database: a document has the team of its folder, a nested folder that of the one it is in.
 */
export function ownTeams({ tenantId, userId }: ChainScope): Prisma.Sql {
  return Prisma.sql`
    SELECT team_id FROM team_members
    WHERE tenant_id = ${tenantId}::uuid AND user_id = ${userId}`
}

/**
 * The chain as one statement, for the check of one document and for a page of a list alike: those
 * of the documents at the end of the caller's chain that meet `condition`, newest first. Each team
 * gives its own newest few from an index, so the cost grows with the caller's teams alone.
 * @param columns of the documents to select
 */
export function selectReachable(
  caller: ChainScope,
  columns: Prisma.Sql,
  condition: Prisma.Sql,
  limit: number,
): Prisma.Sql {
  return Prisma.sql`
    SELECT reachable.* FROM (${ownTeams(caller)}) AS own
    CROSS JOIN LATERAL (
      SELECT ${columns} FROM documents
      WHERE tenant_id = ${caller.tenantId}::uuid AND team_id = own.team_id AND ${condition}
      ORDER BY id DESC LIMIT ${limit}
    ) AS reachable
    ORDER BY id DESC LIMIT ${limit}`
}
