import type { BillingPlans } from '#src/config/billing.ts'
import { causeSettings } from '#src/db/cause.ts'
import type { Database, Tx } from '#src/db/database.ts'
import { type Entry, withoutScope, withSettings } from '#src/db/entry.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { oneStatement } from '#src/db/sql.ts'
import { createInvoice, updateInvoice } from '#src/domain/invoices.ts'
import { changePlan, lockPlan, type Subscriber } from '#src/domain/plans.ts'
import type { JsonObject } from '#src/runtime/json.ts'
import { storableText } from '#src/runtime/text.ts'
import { claimCustomer, lockLinks } from './customers.ts'
import { type Effect, PoisonEvent } from './effect.ts'
import type { BillingEvent, IgnoredReason } from './event.ts'
import {
  findClaims,
  findLeading,
  findObjectState,
  findPayer,
  lockPayment,
  type ObjectState,
  putClaim,
  putSubscription,
} from './objects.ts'
import { planOf } from './plan.ts'
import type { ObjectApi } from './provider-api.ts'
import type { BillingProvider } from './providers/provider.ts'
import { signed } from './providers/signed.ts'

/**
 * `stale`: a newer state was applied before. `gone`: the provider has deleted the object.
 * `unlinked`: waits until its customer is linked to a user. `ignored`: not processed. `missing`: no
 * such event.
 */
export type Applied =
  | 'processed'
  | 'stale'
  | 'gone'
  | 'unlinked'
  | 'ignored'
  | 'already-processed'
  | 'missing'

export type ApplyOptions = {
  /** Whose event it is; the specification's own format by default. */
  provider?: BillingProvider
  plans?: BillingPlans | null
  /** Returns the current state of an object. Without it, `created` decides which state is newer. */
  api?: ObjectApi | null
  /** Process it again. No effect is doubled, because the event's id is the key of its effects. */
  again?: boolean
  /** Ends the job in the transaction of the effect. If it throws, nothing is written. */
  settle?: (tx: Tx) => Promise<void>
  /** Called in the transaction in which a customer was linked. */
  onLinked?: (tx: Tx, customer: string) => Promise<void>
  /** The trace context of the processing, for the events that it publishes. */
  traceparent?: string | null
}

type Decision = { effect: Effect; applied: 'processed' | 'stale' | 'gone' }

/** What is applied in one transaction. */
type Application = Decision & { event: BillingEvent; now: Date; plans: BillingPlans | null }

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
  const { provider = signed, plans = null, api = null, again = false, traceparent = null } = options
  const { settle = async () => {}, onLinked = async () => {} } = options
  const body = await findBody(db, eventId)
  if (body === undefined) return withoutEffect('missing')
  if (body === null) throw new PoisonEvent('its body has been deleted')
  const event = provider.parse({ 'webhook-id': eventId }, body)
  if (event === null) throw new PoisonEvent('the recorded bytes are not an event')
  if (event.ignored !== null) {
    const reason = event.ignored
    return withoutEffect('ignored', (tx) => markIgnored(tx, eventId, reason))
  }
  if (event.objectId !== null && event.objectId !== storableText(event.objectId)) {
    throw new PoisonEvent('data.object.id has characters that cannot be stored')
  }

  const decision = await decide(db, provider, event, api)
  const application = { ...decision, event, now, plans }
  const { effect, applied } = decision
  if (effect.kind === 'checkout') return linkByCheckout(effect)
  const customer = await customerOf(db, effect)
  if (customer === null) return apply(withoutScope, null)
  const entry = withSettings(enterCustomer(event.id, customer), () =>
    causeSettings({ billingEventId: event.id }, traceparent),
  )
  try {
    return await apply(entry, null)
  } catch (error) {
    if (!(error instanceof NotLinked)) throw error
  }
  const holder = (await api?.findHolder?.(customer)) ?? null
  if (holder !== null) await db.write(withoutScope, (tx) => link(tx, customer, holder))
  return apply(entry, customer)

  /**
   * @param waitsFor the customer for whose link the event waits if nobody has it
   * @throws NotLinked if nobody has it, and `waitsFor` is null
   */
  function apply(
    entry: Entry<Subscriber | null | undefined>,
    waitsFor: string | null,
  ): Promise<Applied> {
    return db.write(entry, async (tx, subscriber) => {
      if (subscriber === null) {
        if (waitsFor === null) throw new NotLinked()
        await markUnlinked(tx, eventId, waitsFor)
        await settle(tx)
        return 'unlinked'
      }
      const isFirst = await markProcessed(tx, eventId, now, applied, again)
      if (isFirst) await carryOut(tx, application, subscriber ?? null)
      await settle(tx)
      return isFirst ? applied : 'already-processed'
    })
  }

  async function linkByCheckout({ customer, userId }: { customer: string; userId: number }) {
    return db.write(withoutScope, async (tx) => {
      const isFirst = await markProcessed(tx, eventId, now, applied, again)
      if (isFirst) await link(tx, customer, userId)
      await settle(tx)
      return isFirst ? applied : 'already-processed'
    })
  }

  async function link(tx: Tx, customer: string, userId: number): Promise<void> {
    if (await claimCustomer(tx, customer, userId)) await onLinked(tx, customer)
  }

  async function withoutEffect(
    applied: Applied,
    note: (tx: Tx) => Promise<void> = async () => {},
  ): Promise<Applied> {
    await db.write(withoutScope, async (tx) => {
      await note(tx)
      await settle(tx)
    })
    return applied
  }
}

class NotLinked extends Error {}

/** Decides by the current state of the object, or by the event if the provider returns no state. */
async function decide(
  db: Database,
  provider: BillingProvider,
  event: BillingEvent,
  api: ObjectApi | null,
): Promise<Decision> {
  const { objectId, isState, related } = event
  const seen = isState && objectId !== null ? await findObjectState(db, objectId) : null
  const object = await findObject(event, api)
  if (object === 'gone') return { effect: endOf(provider, event), applied: 'gone' }
  if (object !== 'unknown') {
    return { effect: provider.effectOf(event, object), applied: 'processed' }
  }
  if (related !== null) throw new Error('the provider does not know the object of this event')
  if (isStale(event, seen)) return { effect: { kind: 'none' }, applied: 'stale' }
  return { effect: provider.effectOf(event, event.object), applied: 'processed' }
}

/** The present object; `unknown` if the event's own has to do. */
async function findObject(
  event: BillingEvent,
  api: ObjectApi | null,
): Promise<JsonObject | 'gone' | 'unknown'> {
  const { objectId, isState, related, kind, isThin } = event
  if (isThin && related === null) throw new PoisonEvent('this event names no object to fetch')
  if (related !== null) {
    if (api?.findRelated !== undefined) return api.findRelated(related)
    throw new PoisonEvent('this event comes without its object, and BILLING_API_KEY is not set')
  }
  if (api === null || objectId === null) return 'unknown'
  if (isState) return api.findSubscription(objectId, payerIn(event))
  if (kind === 'invoice' && api.findInvoice !== undefined) return api.findInvoice(objectId)
  return 'unknown'
}

/** A subscription that the provider has deleted is over. */
function endOf(provider: BillingProvider, event: BillingEvent): Effect {
  const effect = event.related === null ? provider.effectOf(event, event.object) : null
  if (effect?.kind !== 'subscription') return { kind: 'none' }
  return { ...effect, state: { ...effect.state, status: 'canceled' } }
}

/** For the limit of calls about one customer. */
function payerIn({ object: { customer } }: BillingEvent): string | undefined {
  return typeof customer === 'string' ? customer : undefined
}

/** Whose effect it is; null if it has none yet, because only a dispute names the payment. */
async function customerOf(db: Database, effect: Effect): Promise<string | null> {
  if (effect.kind === 'none') return null
  if (effect.kind === 'dispute' && effect.customer === null) return findPayer(db, effect.payment)
  return effect.customer
}

/** Null if the body has been deleted, undefined if there is no such event. */
async function findBody(db: Database, eventId: string): Promise<Uint8Array | null | undefined> {
  return db.read(
    withoutScope,
    oneStatement(
      Prisma.sql`SELECT body FROM received_events WHERE event_id = ${eventId}`,
      ([row]: { body: Uint8Array | null }[]) => row?.body,
    ),
  )
}

/** Other settings applied when the event was recorded with its job, or it would have been ignored then. */
async function markIgnored(tx: Tx, eventId: string, reason: IgnoredReason): Promise<void> {
  await tx.receivedEvent.updateMany({
    where: { eventId, status: { not: 'processed' } },
    data: { status: 'ignored', outcome: reason, lastError: null, customer: null },
  })
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
      customer: null,
      attempts: { increment: 1 },
    },
  })
  return count === 1
}

/**
 * Leaves an event for the time when its customer is linked. A link that commits meanwhile either sees
 * the event or is seen here.
 */
async function markUnlinked(tx: Tx, eventId: string, customer: string): Promise<void> {
  await lockLinks(tx)
  const linked = await tx.sql`SELECT FROM enter_billing_event(${eventId}, ${customer})`
  if (linked.length > 0) throw new Error('the customer was linked meanwhile')
  await tx.receivedEvent.updateMany({
    where: { eventId, status: { not: 'processed' } },
    data: { status: 'unlinked', customer, lastError: null, attempts: { increment: 1 } },
  })
}

async function carryOut(
  tx: Tx,
  { effect, event, now, plans }: Application,
  subscriber: Subscriber | null,
): Promise<void> {
  switch (effect.kind) {
    case 'payment':
      if (subscriber !== null) await applyPayment(tx, effect, subscriber, event.id, now)
      return
    case 'refund':
    case 'dispute':
      return applyClaim(tx, effect, subscriber, event.created, now)
    case 'subscription': {
      if (subscriber === null) return
      const before = await lockPlan(tx, subscriber)
      const { customer, state } = effect
      const objectId = event.objectId ?? `subscription of ${customer}`
      const plan = planOf(state, plans)
      await putSubscription(tx, { objectId, customer, created: event.created, state, plan }, now)
      const leading = await findLeading(tx, customer)
      if (before !== null && leading !== null) {
        await changePlan(tx, subscriber, before, leading, now)
      }
      return
    }
    case 'checkout': // linkByCheckout
    case 'none':
      return
  }
}

/** A payment that was known before has its invoice, perhaps in the tenant of another user by now. */
async function applyPayment(
  tx: Tx,
  effect: Extract<Effect, { kind: 'payment' }>,
  subscriber: Subscriber,
  sourceEvent: string,
  now: Date,
): Promise<void> {
  const { payment, customer, amount, currency, refunded } = effect
  const invoice = { amount, currency, sourceEvent, payment }
  if (payment === null) {
    return createInvoice(tx, subscriber, invoice, { refunded, isDisputed: false }, now)
  }
  const payer = await lockPayment(tx, payment, customer, now)
  const claims = await findClaims(tx, payment)
  const state = { ...claims, refunded: Math.max(refunded, claims.refunded) }
  if (payer === null) await createInvoice(tx, subscriber, invoice, state, now)
  else await updateInvoice(tx, subscriber, payment, state, now)
}

async function applyClaim(
  tx: Tx,
  effect: Extract<Effect, { kind: 'refund' | 'dispute' }>,
  subscriber: Subscriber | null,
  created: number | null,
  now: Date,
): Promise<void> {
  const { payment } = effect
  const payer = await lockPayment(tx, payment, null, now)
  if (payer !== null && subscriber === null) throw new Error('the payment has just arrived')
  await putClaim(tx, effect, created, now)
  if (payer === null || subscriber === null) return
  await updateInvoice(tx, subscriber, payment, await findClaims(tx, payment), now)
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
 * whose outcome is recorded stays as it is.
 * @returns whether the event was changed
 */
export async function recordAbandoned(tx: Tx, eventId: string): Promise<boolean> {
  const { count } = await tx.receivedEvent.updateMany({
    where: { eventId, status: { notIn: ['processed', 'unlinked', 'dead'] } },
    data: {
      status: 'dead',
      lastError: 'the worker ended during the last attempt',
      attempts: { increment: 1 },
    },
  })
  return count === 1
}

/** Whether a newer state was applied before. An event without a time is never stale. */
function isStale(event: BillingEvent, state: ObjectState | null): boolean {
  const newest = state?.newestCreated ?? null
  return newest !== null && event.created !== null && event.created < newest
}

/**
 * Opens a transaction in the tenant that gets the invoices of a billing customer: that of the user
 * who has the customer id, or none. Only a recorded event opens it. The scope has no person.
 */
function enterCustomer(eventId: string, customer: string): Entry<Subscriber | null> {
  return {
    statement: () =>
      Prisma.sql`SELECT user_id, tenant_id FROM enter_billing_event(${eventId}, ${customer})`,
    admit(rows) {
      const [row] = rows as { user_id: string; tenant_id: string }[]
      return row === undefined ? null : { userId: Number(row.user_id), tenantId: row.tenant_id }
    },
  }
}
