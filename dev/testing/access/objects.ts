import type { Kind, Owner, Params, Placed } from './kind.ts'
import type { Caller, World } from './world.ts'

const commonPlaceNames = [
  'a colleague’s',
  'a colleague’s, of no department',
  'another tenant’s',
  'missing',
  'malformed',
] as const

type CommonPlace = (typeof commonPlaceNames)[number]
export type Place = 'own' | CommonPlace

/** Creates an object of the kind in each of its places, relative to this actor. */
export async function placesFor(
  kind: Kind,
  world: World,
  actor: Caller,
  common: readonly Placed[],
): Promise<Placed[]> {
  const own = await placeFor(kind, world, actor, 'own')
  return own === null ? [...common] : [own, ...common]
}

/** The objects that exist for all actors. */
export async function commonPlaces(kind: Kind, world: World): Promise<Placed[]> {
  const placed: (Placed | null)[] = []
  for (const where of commonPlaceNames) placed.push(await commonPlace(kind, world, where))
  return placed.filter((one) => one !== null)
}

/** Creates an object of the kind in one place alone, relative to this actor. */
export async function placeFor(
  kind: Kind,
  world: World,
  actor: Caller,
  where: Place,
): Promise<Placed | null> {
  if (where !== 'own') return commonPlace(kind, world, where)
  const { userId } = actor
  return userId === null ? null : place(kind, world, where, { ...actor, userId })
}

async function commonPlace(kind: Kind, world: World, where: CommonPlace): Promise<Placed | null> {
  const { colleague, stranger } = world
  switch (where) {
    case 'a colleague’s':
      return place(kind, world, where, colleague)
    case 'a colleague’s, of no department':
      return kind.departments ? place(kind, world, where, { ...colleague, department: null }) : null
    case 'another tenant’s':
      return place(kind, world, where, stranger)
    case 'missing':
    case 'malformed':
      return nowhere(where, kind[where])
  }
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
