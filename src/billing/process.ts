import type { Database, Tx } from '#src/db/database.ts'
import { type Entry, withoutScope } from '#src/db/entry.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { createInvoice } from '#src/resources/invoices.ts'
import { activatePlan, type Subscriber } from '#src/resources/plans.ts'
import { decideEffect, type Effect, PoisonEvent } from './effect.ts'
import { type BillingEvent, kindOf, parseEvent } from './event.ts'
import type { ProviderApi } from './provider-api.ts'

/**
 * `stale`: a newer state was applied before. `gone`: the provider has deleted the object.
 * `ignored`: a kind that is not processed. `missing`: no such event, or its body was deleted.
 */
export type Applied = 'processed' | 'stale' | 'gone' | 'ignored' | 'already-processed' | 'missing'

export type ApplyOptions = {
  /** Returns the current state of an object. Without it, `created` decides which state is newer. */
  api?: ProviderApi | null
  /** Processes the events of one object one after another. */
  serialize?: SerializeByKey
  /** Process it again. No effect is doubled, because the event's id is the key of its effects. */
  again?: boolean
}

const maxTries = 5 // Each time, another event of the object may be applied first.

/**
 * Processes one recorded event. Its effect and its status `processed` commit together, so that
 * running it again changes nothing.
 * @throws PoisonEvent if it can never be processed; a retry may solve any other error
 */
export async function applyEvent(
  db: Database,
  eventId: string,
  now: Date,
  options: ApplyOptions = {},
): Promise<Applied> {
  const body = await findBody(db, eventId)
  if (body === null) return 'missing'
  const event = parseEvent(body)
  if (event === null) throw new PoisonEvent('the recorded bytes are not an event')
  if (kindOf(event.type) === null) return 'ignored'
  const work = () => applyUntilCurrent(db, event, now, options)
  const objectId = objectIdOf(event)
  return objectId === null || !options.serialize ? work() : options.serialize(objectId, work)
}

async function applyUntilCurrent(
  db: Database,
  event: BillingEvent,
  now: Date,
  options: ApplyOptions,
): Promise<Applied> {
  for (let tries = 1; ; tries++) {
    try {
      return await applyOnce(db, event, now, options)
    } catch (error) {
      if (!(error instanceof StateConflict) || tries === maxTries) throw error
    }
  }
}

async function applyOnce(
  db: Database,
  event: BillingEvent,
  now: Date,
  { api = null, again = false }: ApplyOptions,
): Promise<Applied> {
  const objectId = statefulIdOf(event)
  const seen = objectId === null ? null : await findObjectState(db, objectId)
  const { effect, applied } = await decide(event, objectId, seen, api)
  const entry: Entry<Subscriber | undefined> =
    effect.kind === 'none' ? withoutScope : enterCustomer(event.id, effect.customer)
  return db.write(entry, async (tx, customer) => {
    if (!(await markProcessed(tx, event.id, now, applied, again))) return 'already-processed'
    if (objectId !== null && applied !== 'stale') {
      await updateObjectState(tx, objectId, seen, event.created, now)
    }
    if (customer !== undefined) await carryOut(tx, effect, customer, event.id, now)
    return applied
  })
}

type Decision = { effect: Effect; applied: 'processed' | 'stale' | 'gone' }

/** Decides by the current state of the object, or by the event if the provider returns no state. */
async function decide(
  event: BillingEvent,
  objectId: string | null,
  seen: ObjectState | null,
  api: ProviderApi | null,
): Promise<Decision> {
  if (objectId !== null && api !== null) {
    const object = await api.findSubscription(objectId)
    if (object === 'gone') return { effect: { kind: 'none' }, applied: 'gone' }
    if (object !== 'unknown') {
      return { effect: decideEffect({ ...event, object }), applied: 'processed' }
    }
  }
  if (objectId !== null && isStale(event, seen)) {
    return { effect: { kind: 'none' }, applied: 'stale' }
  }
  return { effect: decideEffect(event), applied: 'processed' }
}

async function findBody(db: Database, eventId: string): Promise<Uint8Array | null> {
  const { rows } = await db.readRows<undefined, { body: Uint8Array | null }>(
    withoutScope,
    Prisma.sql`SELECT body FROM received_events WHERE event_id = ${eventId}`,
  )
  return rows[0]?.body ?? null
}

/** Locks the row too: a second worker with the same event waits here, and then gets false. */
async function markProcessed(
  tx: Tx,
  eventId: string,
  now: Date,
  outcome: string,
  again: boolean,
): Promise<boolean> {
  const { count } = await tx.receivedEvent.updateMany({
    where: again ? { eventId } : { eventId, status: { not: 'processed' } },
    data: {
      status: 'processed',
      outcome,
      processedAt: now,
      lastError: null,
      attempts: { increment: 1 },
    },
  })
  return count === 1
}

async function carryOut(
  tx: Tx,
  effect: Effect,
  customer: Subscriber,
  eventId: string,
  now: Date,
): Promise<void> {
  if (effect.kind === 'create-invoice') {
    const { amount, currency } = effect
    await createInvoice(tx, customer, { amount, currency, sourceEvent: eventId }, now)
  }
  if (effect.kind === 'activate') await activatePlan(tx, customer, now)
}

/** Records why an event failed, for the operator. A `dead` event is not retried automatically. */
export async function recordFailure(
  db: Database,
  eventId: string,
  status: 'failed' | 'dead',
  reason: string,
): Promise<void> {
  await db.write(withoutScope, (tx) =>
    tx.receivedEvent.updateMany({
      where: { eventId, status: { not: 'processed' } },
      data: { status, lastError: reason.slice(0, 500), attempts: { increment: 1 } },
    }),
  )
}

/**
 * Marks an event as dead whose worker ended during the last try and could not record it. An event
 * that is processed or dead already stays as it is.
 * @returns whether the event was changed
 */
export async function recordAbandoned(db: Database, eventId: string): Promise<boolean> {
  const { count } = await db.write(withoutScope, (tx) =>
    tx.receivedEvent.updateMany({
      where: { eventId, status: { notIn: ['processed', 'dead'] } },
      data: {
        status: 'dead',
        lastError: 'the worker ended during the last attempt',
        attempts: { increment: 1 },
      },
    }),
  )
  return count === 1
}

/** The newest `created` applied to an object of the provider, and the number of its updates. */
type ObjectState = { newestCreated: number | null; revision: bigint }

/** Thrown if another event of the object was applied in the meantime: decide again. */
class StateConflict extends Error {
  override readonly name = 'StateConflict'
}

/** The object of an event, the key for `serialize`; null if it has no id. */
function objectIdOf(event: BillingEvent): string | null {
  const { id } = event.object
  return typeof id === 'string' && id !== '' && id.length <= 255 ? id : null
}

/**
 * The object whose state an event reports; null for events whose order does not matter. A charge
 * that succeeded stays succeeded; of a subscription only the last state counts.
 */
function statefulIdOf(event: BillingEvent): string | null {
  const kind = kindOf(event.type)
  const isState = kind === 'subscription.created' || kind === 'subscription.updated'
  return isState ? objectIdOf(event) : null
}

/** Whether a newer state was applied before. An event without a time is never stale. */
function isStale(event: BillingEvent, state: ObjectState | null): boolean {
  const newest = state?.newestCreated ?? null
  return newest !== null && event.created !== null && event.created < newest
}

async function findObjectState(db: Database, objectId: string): Promise<ObjectState | null> {
  const { rows } = await db.readRows<undefined, { newestCreated: number | null; revision: string }>(
    withoutScope,
    Prisma.sql`
      SELECT newest_created AS "newestCreated", revision FROM billing_objects
      WHERE object_id = ${objectId}`,
  )
  const [row] = rows
  if (row === undefined) return null
  return { newestCreated: row.newestCreated, revision: BigInt(row.revision) }
}

/**
 * Stores the state of an object that was decided against `seen`.
 * @throws StateConflict if `seen` is no longer the stored state; the transaction is rolled back
 */
async function updateObjectState(
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
  if (count !== 1) throw new StateConflict('another event of the object was applied meanwhile')
}

/**
 * Opens a transaction in the tenant that gets the invoices of a billing customer: that of the user
 * who has the customer id. Only a recorded event opens it. The scope has no person.
 */
function enterCustomer(eventId: string, customer: string): Entry<Subscriber> {
  return {
    statement: () => ({
      name: 'enter-billing-event',
      text: 'SELECT user_id, tenant_id FROM enter_billing_event($1, $2)',
      values: [eventId, customer],
    }),
    admit(rows) {
      const [row] = rows as { user_id: string; tenant_id: string }[]
      if (row === undefined) throw new Error('no user has the billing customer of this event yet')
      return { userId: Number(row.user_id), tenantId: row.tenant_id }
    },
  }
}

/** Runs calls with the same key one after another, and calls with different keys in parallel. */
export type SerializeByKey = <T>(key: string, work: () => Promise<T>) => Promise<T>

/** A mutex by key within this process. A key without calls uses no memory. */
export function serializeByKey(): SerializeByKey {
  const tails = new Map<string, Promise<unknown>>()
  return async function serialize(key, work) {
    const result = (tails.get(key) ?? Promise.resolve()).then(work)
    // The next call starts when this one has settled, even if it has failed.
    const tail = result.then(ignore, ignore)
    tails.set(key, tail)
    try {
      return await result
    } finally {
      await tail
      if (tails.get(key) === tail) tails.delete(key)
    }
  }
}

function ignore(): void {}
