import type { PgBoss } from 'pg-boss'
import { orderedId, sha256 } from '#src/crypto/hash.ts'
import type { Tx } from '#src/db/database.ts'
import { type Claim, requireOne } from '#src/queue/job-table.ts'
import { transactionOf } from '#src/queue/jobs.ts'
import type { EventJob } from '#src/queue/queue.ts'
import type { BillingEvent } from './event.ts'

export const eventQueue = 'billing-event'

/** Decided from the event alone, so soon done. */
const soonDone = 0
/** May wait for the provider's API, or was asked for by a replay. */
const mayWait = -1

/** Jobs of both kinds have slots of their own, so that neither holds the other back. */
export const lanes = [{ minPriority: soonDone }, { maxPriority: mayWait }] as const

/**
 * The job of an event. Its group is the object of the event: of one group, one job is in progress at
 * a time, and of those waiting the first recorded comes first. The object's id is hashed, because the
 * provider may put anything into it.
 * @param event null if its recorded bytes are no event
 */
export function newEventJob(
  eventId: string,
  event: BillingEvent | null,
  origin: Omit<EventJob, 'eventId'> = {},
) {
  const isFetched = event !== null && mayAsk(event)
  const isSoonDone = origin.replayId === undefined && !isFetched
  const data: EventJob = { eventId, ...origin }
  const key = event?.objectId ?? eventId
  return {
    id: orderedId(),
    data,
    priority: isSoonDone ? soonDone : mayWait,
    group: { id: sha256(key).toString('hex') },
  }
}

/** Whether the provider may be asked about the event. */
function mayAsk({ isState, isThin, kind, object }: BillingEvent): boolean {
  if (isState || isThin || kind === 'invoice' || kind === 'refund') return true
  return kind === 'payment' && Number(object.amount_refunded) > 0
}

/**
 * Completes a job in the transaction of its effect.
 * @throws JobGone if another worker has it
 */
export async function completeJob(tx: Tx, queue: PgBoss, job: Claim): Promise<void> {
  requireOne(job, await queue.complete(job.name, job, null, { db: transactionOf(tx) }))
}

/**
 * Returns a job for another try, in the transaction that records why.
 * @throws JobGone if another worker has it
 */
export async function retryJob(tx: Tx, queue: PgBoss, job: Claim, message: string): Promise<void> {
  requireOne(job, await queue.fail(job.name, job, { message }, { db: transactionOf(tx) }))
}
