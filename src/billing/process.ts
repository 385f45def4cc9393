import type { Database, Tx } from '#src/db/database.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { createInvoice } from '#src/resources/invoices.ts'
import { activatePlan } from '#src/resources/plans.ts'
import { type Effect, effectOf, PoisonEvent } from './effect.ts'
import { type BillingEvent, kindOf, parseEvent } from './event.ts'
import type { ProviderApi } from './provider-api.ts'

/**
 * `stale`: a newer state was applied already. `gone`: the provider no longer has the object.
 * `ignored`: not a kind that is worked on. `missing`: no such event, or its body is no longer kept.
 */
export type Applied = 'processed' | 'stale' | 'gone' | 'ignored' | 'already-processed' | 'missing'

export type ApplyOptions = {
  /** Where the newest state of an object is asked for; without it `created` decides. */
  api?: ProviderApi | null
  /** Events of one object one after another. */
  turns?: SerializeByKey
  /** Also when it was worked on before: effects are keyed by the event, so none is doubled. */
  again?: boolean
}

const judgements = 5 // another event of the object can come in between so often

/**
 * Works one recorded event. Its effect and the mark `processed` commit together, so running it
 * again changes nothing.
 * @throws PoisonEvent when it can never work; anything else is worth another try
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
  if (event === null) throw new PoisonEvent('the recorded bytes are no event')
  if (kindOf(event.type) === null) return 'ignored'
  const work = () => judgeAndApply(db, systemDb, event, now, options)
  const objectId = objectIdOf(event)
  return objectId === null || !options.turns ? work() : options.turns(objectId, work)
}

async function judgeAndApply(
  db: Database,
  systemDb: Queryable,
  event: BillingEvent,
  now: Date,
  options: ApplyOptions,
): Promise<Applied> {
  for (let judgement = 1; ; judgement++) {
    try {
      return await applyOnce(db, systemDb, event, now, options)
    } catch (error) {
      if (!(error instanceof StateMoved) || judgement === judgements) throw error
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
  const { effect, applied } = await judge(event, objectId, seen, api)
  const customer = effect.kind === 'none' ? null : await findCustomer(systemDb, effect.customer)
  if (effect.kind !== 'none' && customer === null) {
    throw new Error('no user has the billing customer of this event yet')
  }
  return db.write(customer ?? {}, async (tx) => {
    if (!(await markProcessed(tx, event.id, now, applied, again))) return 'already-processed'
    if (objectId !== null && applied !== 'stale') {
      await moveObjectState(tx, objectId, seen, event.created, now)
    }
    if (customer !== null) await carryOut(tx, effect, customer, event.id, now)
    return applied
  })
}

type Judgement = { effect: Effect; applied: 'processed' | 'stale' | 'gone' }

/** What the newest known state asks for; where the provider knows none, that is the event's own. */
async function judge(
  event: BillingEvent,
  objectId: string | null,
  seen: ObjectState | null,
  api: ProviderApi | null,
): Promise<Judgement> {
  if (objectId !== null && api !== null) {
    const object = await api.findSubscription(objectId)
    if (object === 'gone') return { effect: { kind: 'none' }, applied: 'gone' }
    if (object !== 'unknown') {
      return { effect: effectOf({ ...event, object }), applied: 'processed' }
    }
  }
  if (objectId !== null && isStale(event, seen)) {
    return { effect: { kind: 'none' }, applied: 'stale' }
  }
  return { effect: effectOf(event), applied: 'processed' }
}

async function findBody(db: Database, eventId: string): Promise<Uint8Array | null> {
  const row = await db.read({}, (tx) =>
    tx.receivedEvent.findFirst({ where: { eventId }, select: { body: true } }),
  )
  return row?.body ?? null
}

/** Also the lock: of two workers with one event the second waits here and then sees it is done. */
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

/** Notes why an attempt failed, for the operator; `dead` is never tried again by itself. */
export async function noteFailure(
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
 * Notes that an event will not be tried again, where the attempt itself could not: its worker ended
 * in the middle of it. What was noted or worked on stays as it is.
 * @returns whether there was anything to note
 */
export async function noteAbandoned(db: Database, eventId: string): Promise<boolean> {
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

/** What is known of an object of the provider: the newest `created` applied, and how often it moved. */
type ObjectState = { newestCreated: number | null; revision: bigint }

/** Thrown when another event of the object was applied in between: judge again. */
class StateMoved extends Error {
  override readonly name = 'StateMoved'
}

/** The object an event is about, for taking turns; null when it names none. */
function objectIdOf(event: BillingEvent): string | null {
  const { id } = event.object
  return typeof id === 'string' && id !== '' && id.length <= 255 ? id : null
}

/**
 * The object whose state an event reports; null for events that are facts of their own. A charge
 * that succeeded has succeeded, whatever else came first; a subscription is what it is last.
 */
function statefulIdOf(event: BillingEvent): string | null {
  const kind = kindOf(event.type)
  const isState = kind === 'subscription.created' || kind === 'subscription.updated'
  return isState ? objectIdOf(event) : null
}

/** Whether a newer state was applied already. An event without a time is never stale. */
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
 * Notes that a state judged against `seen` is being applied.
 * @throws StateMoved when `seen` is no longer the stored state; then nothing is kept
 */
async function moveObjectState(
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

/** The user behind a billing customer, and the tenant the user's invoices go to. */
type Customer = { userId: number; tenantId: string }

/** @returns null when no user carries the customer id, or the user has no tenant of their own */
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

/** Runs work of one key one after another, work of different keys in parallel. */
export type SerializeByKey = <T>(key: string, work: () => Promise<T>) => Promise<T>

/** Turns within this process; nothing is remembered of a key that nobody waits for. */
export function serializeByKey(): SerializeByKey {
  const tails = new Map<string, Promise<unknown>>()
  return async function takeTurn(key, work) {
    const turn = (tails.get(key) ?? Promise.resolve()).then(work)
    // Whoever comes next waits for the end of this, well or not.
    const tail = turn.then(ignore, ignore)
    tails.set(key, tail)
    try {
      return await turn
    } finally {
      await tail
      if (tails.get(key) === tail) tails.delete(key)
    }
  }
}

function ignore(): void {}
