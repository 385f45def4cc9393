import type { TenantScope, Tx } from '#src/db/database.ts'
import { isForeignKeyViolation } from '#src/db/errors.ts'
import type { Prisma } from '#src/db/generated/client.ts'
import { idForm, type Page, pageOf } from '#src/http/pagination.ts'
import { Problem } from '#src/http/problems.ts'

export const folderList = { name: 'folders', forms: [idForm] }

/** The folders of the tenant, newest first. */
export async function listFolders(tx: Tx, { tenantId }: TenantScope, page: Page) {
  const [last] = page.after ?? []
  const rows = await tx.folder.findMany({
    where: { tenantId, ...(last === undefined ? {} : { id: { lt: BigInt(last) } }) },
    orderBy: { id: 'desc' },
    take: page.limit + 1,
  })
  return pageOf(rows, page, folderList.name, (row) => [String(row.id)], toFolder)
}

/** A folder of the tenant, or null: missing and another tenant's are the same. */
export async function findFolder(tx: Tx, { tenantId }: TenantScope, id: number) {
  const row = await tx.folder.findFirst({ where: { tenantId, id } })
  return row && toFolder(row)
}

/**
 * A new folder of the tenant; null when the team or folder it is for is missing.
 * @throws Refusal `conflict` where it would be nested too deep
 */
export async function createFolder(
  tx: Tx,
  scope: TenantScope,
  { name, ...target }: Target & { name: string },
  now: Date,
) {
  await takeTurn(tx, scope)
  const place = await findPlace(tx, scope, target)
  if (place === null) return null
  refuseDepth(place)
  const { tenantId } = scope
  const row = await tx.folder.create({
    data: { tenantId, name, ...place, createdAt: now, updatedAt: now },
  })
  return toFolder(row)
}

/**
 * Renames a folder of the tenant, moves it, or both. It moves with all that is nested in it, which
 * then belongs to the team of its new place. Null when it, or where it is to go, is missing.
 * @throws Refusal `conflict` where it would come to be in itself, or nested too deep
 */
export async function changeFolder(
  tx: Tx,
  scope: TenantScope,
  id: number,
  { name, ...target }: Target & { name?: string },
  now: Date,
) {
  const place = isNamed(target) ? await findNewPlace(tx, scope, id, target) : {}
  if (place === null) return null
  const [row] = await tx.folder.updateManyAndReturn({
    where: { tenantId: scope.tenantId, id },
    data: { ...place, ...(name !== undefined && { name }), updatedAt: now },
  })
  return row === undefined ? null : toFolder(row)
}

/**
 * Deletes an empty folder of the tenant.
 * @returns false when it is missing
 * @throws Refusal `conflict` while it holds folders or documents
 */
export async function deleteFolder(tx: Tx, scope: TenantScope, id: number): Promise<boolean> {
  await takeTurn(tx, scope)
  try {
    const { count } = await tx.folder.deleteMany({ where: { tenantId: scope.tenantId, id } })
    return count === 1
  } catch (error) {
    // Judged by the keys: they also see documents that are out of the caller's reach.
    if (!isForeignKeyViolation(error)) throw error
    throw new Problem('conflict', { detail: 'The folder is not empty.' })
  }
}

function isNamed({ teamId, parentId }: Target): boolean {
  return teamId !== undefined || parentId !== undefined
}

async function findNewPlace(tx: Tx, scope: TenantScope, id: number, target: Target) {
  await takeTurn(tx, scope)
  const place = await findPlace(tx, scope, target)
  if (place !== null) await refuseImpossibleMove(tx, scope, id, place)
  return place
}

function toFolder(row: Prisma.FolderGetPayload<object>) {
  return {
    id: Number(row.id),
    tenantId: row.tenantId,
    name: row.name,
    teamId: Number(row.teamId),
    parentId: row.parentId === null ? null : Number(row.parentId),
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  }
}

/** Where a folder is wanted: nested in another one, or else directly with a team. */
export type Target = { readonly teamId?: number; readonly parentId?: number }

/** What a folder's row says of where it stands. */
type Place = {
  readonly teamId: bigint
  readonly parentId: bigint | null
  readonly parentDepth: number | null
}

const deepest = 32 // folders_depth_check

/**
 * Changes to which team owns which folder of a tenant take turns until their transaction ends, so
 * that what was judged is what is changed. The keys of the database hold without it; it makes
 * their refusal a clear answer.
 */
export async function takeTurn(tx: Tx, { tenantId }: TenantScope): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`folders ${tenantId}`}, 0))`
}

/** The place that a target names; null when it is missing or another tenant's. */
async function findPlace(
  tx: Tx,
  { tenantId }: TenantScope,
  { teamId, parentId }: Target,
): Promise<Place | null> {
  if (parentId !== undefined) {
    const parent = await tx.folder.findFirst({ where: { tenantId, id: parentId } })
    return parent && { teamId: parent.teamId, parentId: parent.id, parentDepth: parent.depth }
  }
  if (teamId === undefined) return null
  const team = await tx.team.findFirst({ where: { tenantId, id: teamId } })
  return team && { teamId: team.id, parentId: null, parentDepth: null }
}

/** @throws Refusal `conflict` where a new folder would be nested too deep */
function refuseDepth({ parentDepth }: Place, levelsBelow = 0): void {
  if ((parentDepth ?? 0) + 1 + levelsBelow <= deepest) return
  throw new Problem('conflict', { detail: `Folders are nested at most ${deepest} deep.` })
}

/** @throws Refusal `conflict` where a folder would come to be in itself, or too deep */
async function refuseImpossibleMove(
  tx: Tx,
  { tenantId }: TenantScope,
  id: number,
  place: Place,
): Promise<void> {
  const [subtree] = await tx.$queryRaw<{ levels: number | null; circle: boolean | null }[]>`
    WITH RECURSIVE subtree AS (
      SELECT id, depth FROM folders WHERE tenant_id = ${tenantId}::uuid AND id = ${id}
      UNION ALL
      SELECT below.id, below.depth FROM folders below JOIN subtree ON below.parent_id = subtree.id
      WHERE below.tenant_id = ${tenantId}::uuid
    )
    SELECT max(depth) - min(depth) AS levels, bool_or(id = ${place.parentId}) AS circle
    FROM subtree`
  if (subtree?.circle) {
    throw new Problem('conflict', { detail: 'A folder cannot be in itself or in what it holds.' })
  }
  refuseDepth(place, subtree?.levels ?? 0)
}
