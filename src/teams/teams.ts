import type { TenantScope } from '#src/access/caller.ts'
import type { Tx } from '#src/db/database.ts'
import { isForeignKeyViolation } from '#src/db/errors.ts'
import type { Prisma } from '#src/db/generated/client.ts'
import { byId, idForm, isReadInReverse, type Page, pageOf } from '#src/http/lists/pagination.ts'
import { Problem } from '#src/http/problems.ts'
import { Line } from '#src/http/schemas.ts'
import { lockFolders } from './folders.ts'

export const teamName = Line(200)

export const teamList = { name: 'teams', forms: [idForm] }

/** The teams of the tenant, newest first. */
export async function listTeams(tx: Tx, { tenantId }: TenantScope, page: Page) {
  const { where, ...order } = byId(page)
  const rows = await tx.team.findMany({
    where: { tenantId, ...where },
    ...order,
  })
  return pageOf(rows, page, teamList.name, (row) => [String(row.id)], toTeam)
}

/** A team of the tenant, or null if it is missing or another tenant's. */
export async function findTeam(tx: Tx, { tenantId }: TenantScope, id: number) {
  const row = await tx.team.findFirst({ where: { tenantId, id } })
  return row && toTeam(row)
}

/** The same, locked until the transaction ends; after the folders, as when a team is deleted. */
export async function lockTeam(tx: Tx, scope: TenantScope, id: number) {
  await lockFolders(tx, scope)
  await tx.sql`
    SELECT 1 FROM teams WHERE tenant_id = ${scope.tenantId}::uuid AND id = ${id} FOR UPDATE`
  return findTeam(tx, scope, id)
}

/** Creates a team without members. */
export async function createTeam(tx: Tx, { tenantId }: TenantScope, name: string, now: Date) {
  const row = await tx.team.create({ data: { tenantId, name, createdAt: now, updatedAt: now } })
  return toTeam(row)
}

/** Renames a team; null if it is missing. */
export async function renameTeam(
  tx: Tx,
  { tenantId }: TenantScope,
  id: number,
  name: string,
  now: Date,
) {
  const [row] = await tx.team.updateManyAndReturn({
    where: { tenantId, id },
    data: { name, updatedAt: now },
  })
  return row === undefined ? null : toTeam(row)
}

/**
 * Deletes a team that owns no folders, with its memberships.
 * @returns false if it is missing
 * @throws Problem `conflict` while it owns folders
 */
export async function deleteTeam(tx: Tx, scope: TenantScope, id: number): Promise<boolean> {
  await lockFolders(tx, scope)
  try {
    const { count } = await tx.team.deleteMany({ where: { tenantId: scope.tenantId, id } })
    return count === 1
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error
    throw new Problem('conflict', { detail: 'The team still owns folders.' })
  }
}

function toTeam(row: Prisma.TeamGetPayload<object>) {
  return {
    id: Number(row.id),
    tenantId: row.tenantId,
    name: row.name,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  }
}

/** The scope of team members: a team in the caller's active tenant. */
type TeamScope = { readonly tenantId: string; readonly teamId: number }

export const teamMemberList = { name: 'team-members', forms: [idForm] }

/** The members of a team, by user id; null if the team is missing or another tenant's. */
export async function listTeamMembers(tx: Tx, { tenantId, teamId }: TeamScope, page: Page) {
  const team = await tx.team.findFirst({ where: { tenantId, id: teamId } })
  if (team === null) return null
  const [text] = page.after ?? []
  const last = text === undefined ? undefined : BigInt(text)
  const inReverse = isReadInReverse(page)
  const rows = await tx.teamMember.findMany({
    where: {
      tenantId,
      teamId,
      ...(last !== undefined && { userId: inReverse ? { lt: last } : { gt: last } }),
    },
    orderBy: { userId: inReverse ? 'desc' : 'asc' },
    take: page.limit + 1,
  })
  return pageOf(rows, page, teamMemberList.name, (row) => [String(row.userId)], toMember)
}

/** The members of several teams of the tenant, at most `limit` of all. */
export async function listMembersOfTeams(
  tx: Tx,
  { tenantId }: TenantScope,
  teamIds: readonly number[],
  limit: number,
): Promise<{ teamId: number; userId: number }[]> {
  const rows = await tx.teamMember.findMany({
    where: { tenantId, teamId: { in: teamIds.map(BigInt) } },
    orderBy: [{ teamId: 'asc' }, { userId: 'asc' }],
    take: limit,
  })
  return rows.map(({ teamId, userId }) => ({ teamId: Number(teamId), userId: Number(userId) }))
}

/** A member of the team, or null. */
export async function findTeamMember(tx: Tx, { tenantId, teamId }: TeamScope, userId: number) {
  const row = await tx.teamMember.findFirst({ where: { tenantId, teamId, userId } })
  return row && toMember(row)
}

/**
 * Adds a member of the tenant to a team; a member of the team stays one. Foreign keys check that both
 * belong to the tenant, so that neither can leave in between.
 * @throws Problem `not-found` if the team or the user is missing or another tenant's
 */
export async function addTeamMember(
  tx: Tx,
  { tenantId, teamId }: TeamScope,
  userId: number,
  now: Date,
): Promise<void> {
  const data = { tenantId, teamId, userId, createdAt: now }
  try {
    await tx.teamMember.createMany({ data, skipDuplicates: true })
  } catch (error) {
    throw isForeignKeyViolation(error) ? new Problem('not-found') : error
  }
}

/**
 * Removes a member from a team, which ends their access to its documents at once. The database does it,
 * because it waits for a write that the member has begun, and a service may not lock a membership.
 * @returns false if the user is not in the team
 */
export async function removeTeamMember(
  tx: Tx,
  { tenantId, teamId }: TeamScope,
  userId: number,
): Promise<boolean> {
  const [row] = await tx.sql<{ removed: boolean }>`
    SELECT remove_team_member(${tenantId}::uuid, ${teamId}, ${userId}) AS removed`
  return row?.removed === true
}

function toMember(row: Prisma.TeamMemberGetPayload<object>) {
  return { userId: Number(row.userId), createdAt: row.createdAt.toISOString() }
}
