import type { Database, Tx } from '#src/db/database.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { createInvoice } from '#src/resources/invoices.ts'
import { activatePlan } from '#src/resources/plans.ts'
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
  systemDb: Queryable,
  eventId: string,
  now: Date,
  options: ApplyOptions = {},
): Promise<Applied> {
  const body = await findBody(db, eventId)
  if (body === null) return 'missing'
  const event = parseEvent(body)
  if (event === null) throw new PoisonEvent('the recorded bytes are not an event')
  if (kindOf(event.type) === null) return 'ignored'
  const work = () => applyUntilCurrent(db, systemDb, event, now, options)
  const objectId = objectIdOf(event)
  return objectId === null || !options.serialize ? work() : options.serialize(objectId, work)
}

async function applyUntilCurrent(
  db: Database,
  systemDb: Queryable,
  event: BillingEvent,
  now: Date,
  options: ApplyOptions,
): Promise<Applied> {
  for (let tries = 1; ; tries++) {
    try {
      return await applyOnce(db, systemDb, event, now, options)
    } catch (error) {
      if (!(error instanceof StateConflict) || tries === maxTries) throw error
    }
  }
}

async function applyOnce(
  db: Database,
  systemDb: Queryable,
  event: BillingEvent,
  now: Date,
  { api = null, again = false }: ApplyOptions,
): Promise<Applied> {
  const objectId = statefulIdOf(event)
  const seen = objectId === null ? null : await db.read({}, (tx) => findObjectState(tx, objectId))
  const { effect, applied } = await decide(event, objectId, seen, api)
  const customer = effect.kind === 'none' ? null : await findCustomer(systemDb, effect.customer)
  if (effect.kind !== 'none' && customer === null) {
    throw new Error('no user has the billing customer of this event yet')
  }
  return db.write(customer ?? {}, async (tx) => {
    if (!(await markProcessed(tx, event.id, now, applied, again))) return 'already-processed'
    if (objectId !== null && applied !== 'stale') {
      await updateObjectState(tx, objectId, seen, event.created, now)
    }
    if (customer !== null) await carryOut(tx, effect, customer, event.id, now)
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
  const row = await db.read({}, (tx) =>
    tx.receivedEvent.findFirst({ where: { eventId }, select: { body: true } }),
  )
  return row?.body ?? null
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
  customer: Customer,
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
  await db.write({}, (tx) =>
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
  const { count } = await db.write({}, (tx) =>
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

async function findObjectState(tx: Tx, objectId: string): Promise<ObjectState | null> {
  return tx.billingObject.findFirst({
    where: { objectId },
    select: { newestCreated: true, revision: true },
  })
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

/** The user with a billing customer id, and the tenant that gets the user's invoices. */
type Customer = { userId: number; tenantId: string }

/** @returns null if no user has the customer id, or the user has no tenant of their own */
async function findCustomer(systemDb: Queryable, customer: string): Promise<Customer | null> {
  const { rows } = await systemDb.query<{ id: string; own_tenant_id: string | null }>({
    name: 'find-customer',
    text: 'SELECT id, own_tenant_id FROM users WHERE billing_customer = $1',
    values: [customer],
  })
  const [row] = rows
  if (row === undefined || row.own_tenant_id === null) return null
  return { userId: Number(row.id), tenantId: row.own_tenant_id }
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
