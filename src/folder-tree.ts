import type { TenantScope, Tx } from '#src/db/database.ts'
import { Refusal } from '#src/http/problems.ts'

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
export async function findPlace(
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
export function refuseDepth({ parentDepth }: Place, levelsBelow = 0): void {
  if ((parentDepth ?? 0) + 1 + levelsBelow <= deepest) return
  throw new Refusal('conflict', { detail: `Folders are nested at most ${deepest} deep.` })
}

/** @throws Refusal `conflict` where a folder would come to be in itself, or too deep */
export async function refuseImpossibleMove(
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
    throw new Refusal('conflict', { detail: 'A folder cannot be in itself or in what it holds.' })
  }
  refuseDepth(place, subtree?.levels ?? 0)
}
