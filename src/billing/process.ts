import { causeSettings } from '#src/db/cause.ts'
import type { Database, Tx } from '#src/db/database.ts'
import { type Entry, withoutScope, withSettings } from '#src/db/entry.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { oneStatement } from '#src/db/sql.ts'
import { createInvoice } from '#src/domain/invoices.ts'
import { activatePlan, type Subscriber } from '#src/domain/plans.ts'
import { storableText } from '#src/runtime/text.ts'
import { type Effect, PoisonEvent } from './effect.ts'
import type { BillingEvent } from './event.ts'
import type { SubscriptionApi } from './provider-api.ts'
import type { BillingProvider } from './providers/provider.ts'
import { signed } from './providers/signed.ts'

/**
 * `stale`: a newer state was applied before. `gone`: the provider has deleted the object.
 * `ignored`: a kind that is not processed. `missing`: no such event, or its body was deleted.
 */
export type Applied = 'processed' | 'stale' | 'gone' | 'ignored' | 'already-processed' | 'missing'

export type ApplyOptions = {
  /** Whose event it is; the specification's own format by default. */
  provider?: BillingProvider
  /** Returns the current state of an object. Without it, `created` decides which state is newer. */
  api?: SubscriptionApi | null
  /** Process it again. No effect is doubled, because the event's id is the key of its effects. */
  again?: boolean
  /** Ends the job in the transaction of the effect. If it throws, nothing is written. */
  settle?: (tx: Tx) => Promise<void>
  /** The trace context of the processing, for the events that it publishes. */
  traceparent?: string | null
}

/**
 * Processes one recorded event. Its effect, its status `processed` and the end of its job commit
 * together, so that running it again changes nothing. The caller runs the events of one object one
 * after another.
 * @throws PoisonEvent if it can never be processed; a retry may solve any other error
 */
export async function applyEvent(
  db: Database,
  eventId: string,
  now: Date,
  options: ApplyOptions = {},
): Promise<Applied> {
  const { provider = signed, api = null, again = false, traceparent = null } = options
  const { settle = async () => {} } = options
  const body = await findBody(db, eventId)
  if (body === null) return withoutEffect('missing')
  const event = provider.parse({ 'webhook-id': eventId }, body)
  if (event === null) throw new PoisonEvent('the recorded bytes are not an event')
  if (event.ignored !== null) return withoutEffect('ignored')

  const objectId = event.isState ? event.objectId : null
  if (objectId !== null && objectId !== storableText(objectId)) {
    throw new PoisonEvent('data.object.id has characters that cannot be stored')
  }
  const seen = objectId === null ? null : await findObjectState(db, objectId)
  const { effect, applied } = await decide(provider, event, objectId, seen, api)
  const entry: Entry<Subscriber | undefined> =
    effect.kind === 'none' || effect.customer === null
      ? withoutScope
      : withSettings(enterCustomer(event.id, effect.customer), () =>
          causeSettings({ billingEventId: event.id }, traceparent),
        )
  return db.write(entry, async (tx, customer) => {
    const isFirst = await markProcessed(tx, event.id, now, applied, again)
    if (isFirst && objectId !== null && applied !== 'stale') {
      await updateObjectState(tx, objectId, event.created, now)
    }
    if (isFirst && customer !== undefined) await carryOut(tx, effect, customer, event.id, now)
    await settle(tx)
    return isFirst ? applied : 'already-processed'
  })

  async function withoutEffect(applied: Applied): Promise<Applied> {
    await db.write(withoutScope, settle)
    return applied
  }
}

type Decision = { effect: Effect; applied: 'processed' | 'stale' | 'gone' }

/** Decides by the current state of the object, or by the event if the provider returns no state. */
async function decide(
  provider: BillingProvider,
  event: BillingEvent,
  objectId: string | null,
  seen: ObjectState | null,
  api: SubscriptionApi | null,
): Promise<Decision> {
  if (objectId !== null && api !== null && event.kind === 'subscription') {
    const object = await api.findSubscription(objectId, customerOf(event))
    if (object === 'gone') return { effect: { kind: 'none' }, applied: 'gone' }
    if (object !== 'unknown') {
      return { effect: provider.effectOf(event, object), applied: 'processed' }
    }
  }
  if (objectId !== null && isStale(event, seen)) {
    return { effect: { kind: 'none' }, applied: 'stale' }
  }
  return { effect: provider.effectOf(event, event.object), applied: 'processed' }
}

function customerOf({ object: { customer } }: BillingEvent): string | undefined {
  return typeof customer === 'string' ? customer : undefined
}

async function findBody(db: Database, eventId: string): Promise<Uint8Array | null> {
  return db.read(
    withoutScope,
    oneStatement(
      Prisma.sql`SELECT body FROM received_events WHERE event_id = ${eventId}`,
      ([row]: { body: Uint8Array | null }[]) => row?.body ?? null,
    ),
  )
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
  if (effect.kind === 'payment') {
    const { amount, currency } = effect
    await createInvoice(tx, customer, { amount, currency, sourceEvent: eventId }, now)
  }
  if (effect.kind === 'subscription' && effect.state.status === 'active')
    await activatePlan(tx, customer, now)
}

/** Records why an event failed, for the operator. A `dead` event is not retried automatically. */
export async function recordFailure(
  tx: Tx,
  eventId: string,
  status: 'failed' | 'dead',
  reason: string,
): Promise<void> {
  await tx.receivedEvent.updateMany({
    where: { eventId, status: { not: 'processed' } },
    data: { status, lastError: storableText(reason).slice(0, 500), attempts: { increment: 1 } },
  })
}

/**
 * Marks an event as dead whose worker ended during the last try and could not record it. An event
 * that is processed or dead already stays as it is.
 * @returns whether the event was changed
 */
export async function recordAbandoned(tx: Tx, eventId: string): Promise<boolean> {
  const { count } = await tx.receivedEvent.updateMany({
    where: { eventId, status: { notIn: ['processed', 'dead'] } },
    data: {
      status: 'dead',
      lastError: 'the worker ended during the last attempt',
      attempts: { increment: 1 },
    },
  })
  return count === 1
}

/** The newest `created` applied to an object of the provider, Unix seconds. */
type ObjectState = { newestCreated: number | null }

/** Whether a newer state was applied before. An event without a time is never stale. */
function isStale(event: BillingEvent, state: ObjectState | null): boolean {
  const newest = state?.newestCreated ?? null
  return newest !== null && event.created !== null && event.created < newest
}

async function findObjectState(db: Database, objectId: string): Promise<ObjectState | null> {
  return db.read(
    withoutScope,
    oneStatement(
      Prisma.sql`
        SELECT newest_created AS "newestCreated" FROM billing_objects WHERE object_id = ${objectId}`,
      ([row]: ObjectState[]) => row ?? null,
    ),
  )
}

async function updateObjectState(
  tx: Tx,
  objectId: string,
  created: number | null,
  now: Date,
): Promise<void> {
  await tx.sql`
    INSERT INTO billing_objects AS stored (object_id, newest_created, updated_at)
    VALUES (${objectId}, ${created}, ${now})
    ON CONFLICT (object_id) DO UPDATE SET
      newest_created = GREATEST(stored.newest_created, excluded.newest_created),
      revision = stored.revision + 1, updated_at = excluded.updated_at`
}

/**
 * Opens a transaction in the tenant that gets the invoices of a billing customer: that of the user
 * who has the customer id. Only a recorded event opens it. The scope has no person.
 */
function enterCustomer(eventId: string, customer: string): Entry<Subscriber> {
  return {
    statement: () =>
      Prisma.sql`SELECT user_id, tenant_id FROM enter_billing_event(${eventId}, ${customer})`,
    admit(rows) {
      const [row] = rows as { user_id: string; tenant_id: string }[]
      if (row === undefined) throw new Error('no user has the billing customer of this event yet')
      return { userId: Number(row.user_id), tenantId: row.tenant_id }
    },
  }
}
