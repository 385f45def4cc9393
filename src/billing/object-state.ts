import type { Tx } from '#src/db/database.ts'
import { type BillingEvent, kindOf } from './event.ts'

/** What is known of an object of the provider: the newest `created` applied, and how often it moved. */
export type ObjectState = { newestCreated: number | null; revision: bigint }

/** Thrown when another event of the object was applied in between: judge again. */
export class StateMoved extends Error {
  override readonly name = 'StateMoved'
}

/** The object an event is about, for taking turns; null when it names none. */
export function objectIdOf(event: BillingEvent): string | null {
  const { id } = event.object
  return typeof id === 'string' && id !== '' && id.length <= 255 ? id : null
}

/**
 * The object whose state an event reports; null for events that are facts of their own. A charge
 * that succeeded has succeeded, whatever else came first; a subscription is what it is last.
 */
export function statefulIdOf(event: BillingEvent): string | null {
  const kind = kindOf(event.type)
  const isState = kind === 'subscription.created' || kind === 'subscription.updated'
  return isState ? objectIdOf(event) : null
}

/** Whether a newer state was applied already. An event without a time is never stale. */
export function isStale(event: BillingEvent, state: ObjectState | null): boolean {
  const newest = state?.newestCreated ?? null
  return newest !== null && event.created !== null && event.created < newest
}

export async function findObjectState(tx: Tx, objectId: string): Promise<ObjectState | null> {
  return tx.billingObject.findFirst({
    where: { objectId },
    select: { newestCreated: true, revision: true },
  })
}

/**
 * Notes that a state judged against `seen` is being applied.
 * @throws StateMoved when `seen` is no longer the stored state; then nothing is kept
 */
export async function moveObjectState(
  tx: Tx,
  objectId: string,
  seen: ObjectState | null,
  created: number | null,
  now: Date,
): Promise<void> {
  const newestCreated = Math.max(created ?? -Infinity, seen?.newestCreated ?? -Infinity)
  const data = { newestCreated: Number.isFinite(newestCreated) ? newestCreated : null }
  const { count } =
    seen === null
      ? await tx.billingObject.createMany({
          data: { objectId, ...data, updatedAt: now },
          skipDuplicates: true,
        })
      : await tx.billingObject.updateMany({
          where: { objectId, revision: seen.revision },
          data: { ...data, revision: { increment: 1 }, updatedAt: now },
        })
  if (count !== 1) throw new StateMoved('the object moved while it was judged')
}
