import { accountKinds } from './account-kinds.ts'
import type { Kind, Kinds, Owner, Params, Placed } from './kind.ts'
import { outboundKinds } from './outbound-kinds.ts'
import { resourceKinds } from './resource-kinds.ts'
import { serviceKinds } from './service-kinds.ts'
import type { Caller, World } from './world.ts'

export type Place =
  | 'own'
  | 'a colleague’s'
  | 'a colleague’s, of no department'
  | 'another tenant’s'
  | 'missing'
  | 'malformed'

/** Every kind of object that a route names or lists. */
export const kinds: Kinds = {
  ...accountKinds,
  ...resourceKinds,
  ...outboundKinds,
  ...serviceKinds,
}

/** Creates an object of the kind in each of its places, relative to this actor. */
export async function placesFor(
  kind: Kind,
  world: World,
  actor: Caller,
  common: readonly Placed[],
): Promise<Placed[]> {
  const { userId } = actor
  const own = userId === null ? null : await place(kind, world, 'own', { ...actor, userId })
  return own === null ? [...common] : [own, ...common]
}

/** The objects that exist for all actors. */
export async function commonPlaces(kind: Kind, world: World): Promise<Placed[]> {
  const { colleague, stranger } = world
  const placed = [
    await place(kind, world, 'a colleague’s', colleague),
    kind.departments
      ? await place(kind, world, 'a colleague’s, of no department', {
          ...colleague,
          department: null,
        })
      : null,
    await place(kind, world, 'another tenant’s', stranger),
    nowhere('missing', kind.missing),
    nowhere('malformed', kind.malformed),
  ]
  return placed.filter((one) => one !== null)
}

async function place(kind: Kind, world: World, where: Place, owner: Owner): Promise<Placed | null> {
  const tenantId = where === 'another tenant’s' ? world.elsewhere : world.home
  const params = await kind.create({ world, tenantId, owner })
  if (params === null) return null
  const { userId, department } = owner
  const tenantIds = kind.tenantsOf?.(owner) ?? [tenantId]
  return { place: where, params, tenantIds, ownerId: userId, department, chained: [userId] }
}

function nowhere(where: Place, params: Params): Placed {
  return { place: where, params, tenantIds: [], ownerId: null, department: null, chained: [] }
}
