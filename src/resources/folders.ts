import type { TenantScope, Tx } from '#src/db/database.ts'
import { isForeignKeyViolation } from '#src/db/errors.ts'
import type { Prisma } from '#src/db/generated/client.ts'
import {
  findPlace,
  refuseDepth,
  refuseImpossibleMove,
  type Target,
  takeTurn,
} from '#src/folder-tree.ts'
import { idForm, type Page, pageOf } from '#src/http/pagination.ts'
import { Refusal } from '#src/http/problems.ts'

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
    throw new Refusal('conflict', { detail: 'The folder is not empty.' })
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
