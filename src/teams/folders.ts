import type { TenantScope } from '#src/access/caller.ts'
import { type ChainScope, firstInReach } from '#src/access/relations.ts'
import { lockUntilCommit } from '#src/db/advisory-lock.ts'
import type { Tx } from '#src/db/database.ts'
import { isForeignKeyViolation } from '#src/db/errors.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { byId, idForm, type Page, pageOf } from '#src/http/lists/pagination.ts'
import { Problem } from '#src/http/problems.ts'
import { Line } from '#src/http/schemas.ts'

export const folderName = Line(200)

export const folderList = { name: 'folders', forms: [idForm] }

/** The folders of the tenant, newest first. */
export async function listFolders(tx: Tx, { tenantId }: TenantScope, page: Page) {
  const { where, ...order } = byId(page)
  const rows = await tx.folder.findMany({
    where: { tenantId, ...where },
    ...order,
  })
  return pageOf(rows, page, folderList.name, (row) => [String(row.id)], toFolder)
}

/** The newest folders of the caller's teams, with the name of the team. */
export async function listFoldersInReach(tx: Tx, caller: ChainScope, limit: number) {
  const order = { matching: Prisma.sql`true`, direction: Prisma.sql`DESC`, limit }
  const rows = await tx.sql<{ id: string; name: string; team: string }>`
    SELECT id, name, (SELECT t.name FROM teams t
      WHERE t.tenant_id = ${caller.tenantId}::uuid AND t.id = folders.team_id) AS team
    FROM folders WHERE ${firstInReach(Prisma.sql`folders`, caller, order)} ORDER BY id DESC`
  return rows.map(({ id, ...names }) => ({ id: Number(id), ...names }))
}

/** A folder of the tenant, or null if it is missing or another tenant's. */
export async function findFolder(tx: Tx, { tenantId }: TenantScope, id: number) {
  const row = await tx.folder.findFirst({ where: { tenantId, id } })
  return row && toFolder(row)
}

/**
 * A folder of the tenant, locked until the transaction ends; null if it is missing. The lock of all
 * folders comes first, as in every change of one.
 */
export async function lockFolder(tx: Tx, scope: TenantScope, id: number) {
  await lockFolders(tx, scope)
  await tx.sql`
    SELECT 1 FROM folders WHERE tenant_id = ${scope.tenantId}::uuid AND id = ${id} FOR UPDATE`
  return findFolder(tx, scope, id)
}

/**
 * Creates a folder; null if its team or parent folder is missing.
 * @throws Problem `conflict` if it would be nested too deep
 */
export async function createFolder(
  tx: Tx,
  scope: TenantScope,
  { name, ...target }: Target & { name: string },
  now: Date,
) {
  await lockFolders(tx, scope)
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
 * Renames a folder, moves it, or both. It moves with its contents, which then belong to the team of
 * the new place. Null if the folder or the new place is missing.
 * @throws Problem `conflict` if it would contain itself or be nested too deep
 */
export async function changeFolder(
  tx: Tx,
  scope: TenantScope,
  id: number,
  { name, ...target }: Target & { name?: string },
  now: Date,
) {
  if (isMove(target)) {
    const place = await findNewPlace(tx, scope, id, target)
    return place && placeFolder(tx, id, place, name, now)
  }
  const [row] = await tx.folder.updateManyAndReturn({
    where: { tenantId: scope.tenantId, id },
    data: { ...(name !== undefined && { name }), updatedAt: now },
  })
  return row === undefined ? null : toFolder(row)
}

/**
 * Deletes an empty folder.
 * @returns false if it is missing
 * @throws Problem `conflict` while it has folders or rows of a resource
 */
export async function deleteFolder(tx: Tx, scope: TenantScope, id: number): Promise<boolean> {
  await lockFolders(tx, scope)
  try {
    const { count } = await tx.folder.deleteMany({ where: { tenantId: scope.tenantId, id } })
    return count === 1
  } catch (error) {
    // The foreign keys also see rows that the caller cannot reach.
    if (!isForeignKeyViolation(error)) throw error
    throw new Problem('conflict', { detail: 'The folder is not empty.' })
  }
}

function isMove({ teamId, parentId }: Target): boolean {
  return teamId !== undefined || parentId !== undefined
}

async function findNewPlace(tx: Tx, scope: TenantScope, id: number, target: Target) {
  await lockFolders(tx, scope)
  const place = await findPlace(tx, scope, target)
  if (place !== null) await refuseImpossibleMove(tx, scope, id, place)
  return place
}

/**
 * Moves a folder of the transaction's tenant, its folders and all their rows, and renames it if a name
 * is given; null if it is missing. The database does it, because the caller may see none of the rows.
 */
async function placeFolder(
  tx: Tx,
  id: number,
  { teamId, parentId, parentDepth }: Place,
  name: string | undefined,
  now: Date,
) {
  const [row] = await tx.sql<Row>`
    SELECT tenant_id AS "tenantId", id, team_id AS "teamId", parent_id AS "parentId", name,
      created_at AS "createdAt", updated_at AS "updatedAt"
    FROM place_folder(
      ${id}::bigint, ${teamId}::bigint, ${parentId}::bigint, ${parentDepth}::int,
      ${name ?? null}::text, ${now}::timestamptz)`
  return row === undefined ? null : toFolder(row)
}

type Row = Omit<Prisma.FolderGetPayload<object>, 'depth' | 'parentDepth'>

function toFolder(row: Row) {
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

/** The requested place of a folder: nested in another folder, or directly with a team. */
export type Target = { readonly teamId?: number; readonly parentId?: number }

/** The place of a folder, as the columns of its row. */
type Place = {
  readonly teamId: bigint
  readonly parentId: bigint | null
  readonly parentDepth: number | null
}

const maxDepth = 32 // folders_depth_check

/**
 * Serializes changes to the folders and teams of a tenant, so that a check still holds when the
 * change is made. Foreign keys protect the data without this lock; with it, the caller gets a
 * specific error.
 */
export async function lockFolders(tx: Tx, { tenantId }: TenantScope): Promise<void> {
  await lockUntilCommit(tx, 'folders', tenantId)
}

/** The place of a target; null if it is missing or another tenant's. */
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

/** @throws Problem `conflict` if a folder would be nested too deep */
function refuseDepth({ parentDepth }: Place, levelsBelow = 0): void {
  if ((parentDepth ?? 0) + 1 + levelsBelow <= maxDepth) return
  throw new Problem('conflict', { detail: `Folders are nested at most ${maxDepth} deep.` })
}

/** @throws Problem `conflict` if a folder would contain itself or be nested too deep */
async function refuseImpossibleMove(
  tx: Tx,
  { tenantId }: TenantScope,
  id: number,
  place: Place,
): Promise<void> {
  const [subtree] = await tx.sql<{ levels: number | null; hasCycle: boolean | null }>`
    WITH RECURSIVE subtree AS (
      SELECT id, depth FROM folders WHERE tenant_id = ${tenantId}::uuid AND id = ${id}
      UNION ALL
      SELECT below.id, below.depth FROM folders below JOIN subtree ON below.parent_id = subtree.id
      WHERE below.tenant_id = ${tenantId}::uuid
    )
    SELECT max(depth) - min(depth) AS levels, bool_or(id = ${place.parentId}) AS "hasCycle"
    FROM subtree`
  if (subtree?.hasCycle) {
    throw new Problem('conflict', {
      detail: 'A folder cannot be moved into itself or into a folder it contains.',
    })
  }
  refuseDepth(place, subtree?.levels ?? 0)
}
