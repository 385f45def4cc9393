import { entitlementsOf, plansAbove } from '#src/access/entitlements.ts'
import { decideWithoutObject, plansHint, type Subject, toProblem } from '#src/access/policy.ts'
import { lockUntilCommit } from '#src/db/advisory-lock.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { maxCounted } from '#src/http/lists/pagination.ts'
import { Problem } from '#src/http/problems.ts'
import type { Asking } from '#src/resources/kit/fields/field.ts'
import { resources } from '#src/resources/running-app.ts'
import { mayRead } from './named.ts'
import { type Declared, within } from './table.ts'

/** How many rows of a resource somebody may have by their plan, and how many there are. */
export type Room = {
  /** Null: unlimited. */
  readonly most: number | null
  /** Counted up to `most`, or to a thousand if that is more. */
  readonly used: number
}

/** Whether plans limit the rows of a resource. */
export function isLimited({ plural }: Pick<Declared, 'plural'>): boolean {
  return entitlementsOf(null).limits[plural] !== undefined
}

/** Whether a new row has to be counted first. A program has no plan, so nothing limits it. */
export function isCounted(resource: Declared, { userId, plan }: Asking): boolean {
  return userId !== null && typeof entitlementsOf(plan).limits[resource.plural] === 'number'
}

/** Rows beyond the limit of a smaller plan count too. */
export async function roomFor(tx: Tx, resource: Declared, caller: Asking): Promise<Room> {
  const { plural } = resource
  const { [plural]: most = null } = entitlementsOf(caller.plan).limits
  const enough = Math.max(most ?? 0, maxCounted)
  const [row] = await tx.sql<{ used: number }>(Prisma.sql`
    SELECT count(*)::int AS used FROM (
      SELECT FROM ${Prisma.raw(plural)} WHERE ${within(resource, caller)} LIMIT ${enough}) one`)
  return { most, used: row?.used ?? 0 }
}

/** What somebody uses of the limits of their plan, for the resources that they may read. */
export async function listRooms(tx: Tx, caller: Asking) {
  const limited = resources.filter((one) => isLimited(one) && mayRead(caller, one))
  return Promise.all(
    limited.map(async (resource) => ({ resource, ...(await roomFor(tx, resource, caller)) })),
  )
}

/** Why somebody cannot create a row by their plan, for the page that has the form; null if they can. */
export async function refusalByPlan(
  tx: Tx,
  resource: Declared,
  caller: Asking & Subject,
): Promise<Problem | null> {
  const decision = decideWithoutObject({ caller, resource: resource.name, action: 'create' })
  if (decision.reason === 'plan-required') return toProblem(decision.reason, decision)
  if (!isCounted(resource, caller)) return null
  return refusalOfRoom(resource, await roomFor(tx, resource, caller))
}

/** The refusal of one row more; null if there is room. */
function refusalOfRoom(resource: Declared, { most, used }: Room): Problem | null {
  if (most === null || used < most) return null
  const { plural, scope } = resource
  const words = plural.replaceAll('_', ' ')
  const whose = scope === 'owner' ? 'you have' : 'your tenant has'
  const above = plansAbove(plural, most)
  const other = above.length === 0 ? '' : ` The plan ${above.join(' or ')} is for more.`
  return new Problem('limit-reached', {
    reason: 'limit-reached',
    detail: `Your plan is for ${most} ${words}, and ${whose} ${used}.${other}${plansHint}`,
  })
}

/**
 * Waits for the others who create rows of the resource, until the transaction ends, and counts. Without the lock two
 * of them would both find room for one row.
 * @throws Problem `limit-reached`
 */
export async function requireRoom(resource: Declared, tx: Tx, caller: Asking): Promise<void> {
  if (!isCounted(resource, caller)) return
  const { plural, scope } = resource
  const holder = String(scope === 'owner' ? caller.userId : caller.tenantId)
  await lockUntilCommit(tx, 'plan-limits', plural, holder)
  const refusal = refusalOfRoom(resource, await roomFor(tx, resource, caller))
  if (refusal !== null) throw refusal
}
