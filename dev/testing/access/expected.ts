import { type Actor, limitOf } from './actors.ts'
import type { Place } from './objects.ts'
import type { RouteRow } from './route-row.ts'
import {
  type Contract,
  type FieldRow,
  permissionFor,
  permits,
  permitsApp,
  permitsService,
  type Reach,
} from './rules.ts'

/** An actor, as stored in the database. */
export type Person = {
  userId: number | null
  /** The tenant of the session or token. */
  tenantId: string | null
  memberOf: readonly string[]
}

/** The facts about an object. */
export type Facts = {
  place: Place
  tenantIds: readonly string[]
  ownerId: number | null
  department: string | null
  /** Users with a chain to it. */
  chained: readonly number[]
}

const safeMethods = ['GET', 'HEAD']

/**
 * The status that the contract requires: 401 without an identity; 403 without the permission,
 * whatever the object; 400 for a malformed id; 403 for a role that has more than the token; 404 for a missing or foreign object; 403 if the
 * attribute rule denies; otherwise the status of the route.
 */
export function expectedStatus(
  contract: Contract,
  route: RouteRow,
  { method, url }: { method: string; url: string },
  actor: Actor & Person,
  object: Facts | null,
): number {
  const inSession = actor.by === 'session' && actor.state === 'live'
  const isInPortal = url.startsWith('/portal/')
  const isSafe = safeMethods.includes(method) && !route.asksForOther
  if (isInPortal && actor.fromAnotherSite && !isSafe) return 403
  if (route.who === 'anyone' || route.who === 'signature') {
    return (inSession ? route.answerInSession : undefined) ?? route.answer
  }
  if (actor.fromAnotherSite && !isSafe) return 403
  if (actor.by === 'anonymous' || actor.state !== 'live') return 401
  // The portal knows its own cookie and nothing else, and nothing else knows it.
  if (isInPortal !== (actor.by === 'portal')) return 401
  // Pages and the routes of operators are for people.
  if (actor.by === 'service' && /^\/(app|billing)\//.test(url)) return 403
  if (!mayTry(contract, route, actor)) return 403
  if (object?.place === 'malformed') return 400
  if (!mayToo(contract, route, actor)) return 403
  const isForm = url.startsWith('/app/')
  const isRefused = !mayWrite(contract, route, actor)
  if (isRefused && !isForm) return 403
  if (route.gives !== undefined && !mayGive(contract, route, actor, route.gives)) return 403
  if (object === null) return isRefused ? 403 : route.answer
  if (!isThere(contract, route, actor, object)) return route.outOfReach ?? 404
  if (isRefused) return 403
  if (contract.rules[route.who]?.attribute && contract.forbids(actor, object, route.who)) return 403
  return route.answer
}

/** The scope of the rule, or of the route if no rule has one. */
export function reachOf({ rules }: Contract, route: RouteRow): Reach {
  const reach = route.forApp ? 'app' : (rules[route.who]?.reach ?? 'anyone')
  return reach === 'self' ? (route.reach ?? 'anyone') : reach
}

function mayTry(contract: Contract, route: RouteRow, actor: Actor & Person): boolean {
  if (route.needsTenant && actor.tenantId === null) return false
  const rule = contract.rules[route.who]
  if (rule === undefined) return false
  const isForApp = reachOf(contract, route) === 'app'
  if (isForApp !== (actor.by === 'app')) return false
  if (actor.by === 'portal') return contract.portals.includes(route.who)
  if (actor.by === 'app')
    return permitsApp(contract, route.who, limitOf(contract, actor, route.who) ?? [])
  if (actor.by === 'service') {
    const limit = limitOf(contract, actor, permissionFor(contract, route.who))
    return permitsService(contract, route.who, limit ?? [])
  }
  const session = actor.by === 'session'
  return permits(contract, rule, {
    ...actor,
    operator: actor.operator && session,
    limit: limitOf(contract, actor, rule.token),
    session,
    recent: session && !actor.authenticatedLongAgo,
  })
}

/** A list below a row shows the row too. */
function mayToo(contract: Contract, route: RouteRow, actor: Actor): boolean {
  const { token, tokenToo } = contract.rules[route.who] ?? {}
  if (tokenToo === undefined || actor.by !== 'token') return true
  const limit = limitOf(contract, actor, token)
  return limit === null || limit.includes(tokenToo)
}

function mayWrite(contract: Contract, route: RouteRow, actor: Actor): boolean {
  const { writes = [], shows = '' } = route
  const needed = contract.fields?.[shows]?.filter(({ key }) => writes.includes(key)) ?? []
  return needed.every((one) => hasField(contract, route, actor, one))
}

/** Whether the actor has the permission of a field. */
export function hasField(
  contract: Contract,
  route: RouteRow,
  actor: Actor,
  { roles, permission }: FieldRow,
): boolean {
  const limit = limitOf(contract, actor, contract.rules[route.who]?.token)
  const isAllowed = actor.by !== 'service' && roles.includes(actor.role)
  return isAllowed && (limit === null || limit.includes(permission))
}

/** A limited token never gives more than it has. */
function mayGive(contract: Contract, route: RouteRow, actor: Actor, role: string): boolean {
  const limit = limitOf(contract, actor, contract.rules[route.who]?.token)
  return (
    limit === null || (contract.roles[role] ?? []).every((permission) => limit.includes(permission))
  )
}

/** Whether the route has the object for the actor: in the reach of its rule, and among the rows that they see. */
export function isThere(
  contract: Contract,
  route: RouteRow,
  actor: Actor & Person,
  object: Facts,
): boolean {
  const isSeen = contract.sees?.(actor, object, route.object ?? route.lists) ?? true
  return isSeen && reaches(actor, reachOf(contract, route), object)
}

/** Whether the object exists and the actor can reach it. */
function reaches(actor: Person, reach: Reach, object: Facts): boolean {
  if (object.place === 'missing' || object.place === 'malformed') return false
  const inTenant = actor.tenantId !== null && object.tenantIds.includes(actor.tenantId)
  switch (reach) {
    case 'owner':
      return object.ownerId !== null && object.ownerId === actor.userId
    case 'member':
      return object.tenantIds.some((tenantId) => actor.memberOf.includes(tenantId))
    case 'tenant':
      return inTenant
    case 'chain':
      return inTenant && actor.userId !== null && object.chained.includes(actor.userId)
    case 'operator':
    case 'self':
    case 'app':
    case 'anyone':
      return true
  }
}
