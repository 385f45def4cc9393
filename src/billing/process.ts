import { createInvoice, updateInvoice } from '#src/billing/invoices.ts'
import { changePlan, endedSubscription, lockPlan, type Subscriber } from '#src/billing/plans.ts'
import type { BillingPlans } from '#src/config/billing.ts'
import { causeSettings } from '#src/db/cause.ts'
import type { Database, Tx } from '#src/db/database.ts'
import { type Entry, withoutScope, withSettings } from '#src/db/entry.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { oneStatement } from '#src/db/sql.ts'
import { type BillingHook, type FindBillingHook, failureOf } from '#src/queue/app/hooks.ts'
import type { JsonObject } from '#src/runtime/json.ts'
import { storableText } from '#src/runtime/text.ts'
import { type ClaimOutcome, claimCustomer, lockLinks, releaseCustomer } from './customers.ts'
import { allowedIn } from './details.ts'
import { type Effect, endedStatuses, PoisonEvent, referenceOf } from './effect.ts'
import { type BillingEvent, type IgnoredReason, typeIn } from './event.ts'
import { secondCustomer } from './events.ts'
import { findFormer } from './former.ts'
import { type Holder, holderText } from './holder.ts'
import { factOf } from './hooks.ts'
import {
  findClaims,
  findLeading,
  findObjectState,
  isPaymentKnown,
  lockPayment,
  lowerRefunded,
  moveSubscription,
  type ObjectState,
  putClaim,
  putPayer,
  putRefunded,
  putSubscription,
} from './objects.ts'
import { planOf, rankOf, seatsOf } from './plan.ts'
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
  /** The provider whose event it is; by default the format of the specification. */
  provider?: BillingProvider
  plans?: BillingPlans | null
  /** The keys of a subscription's metadata that are kept. */
  metadata?: readonly string[]
  /** Returns the current state of an object. Without it, `created` decides which state is newer. */
  api?: ObjectApi | null
  /** Process it again. No effect is doubled, because the event's id is the key of its effects. */
  again?: boolean
  /** Ends the job in the transaction of the effect. If it throws, nothing is written. */
  settle?: (tx: Tx) => Promise<void>
  /** Called in the transaction of the effect, unless the event was processed before. */
  onProcessed?: (tx: Tx) => Promise<void>
  /** Finds the hook of the app, which runs in the transaction of the effect when it is first processed. */
  hookOf?: FindBillingHook
  /** Called in the transaction in which a customer was linked. */
  onLinked?: (tx: Tx, customer: string) => Promise<void>
  /** The trace context of the processing, for the events that it publishes. */
  traceparent?: string | null
}

type Decision = {
  effect: Effect
  applied: 'processed' | 'stale' | 'gone'
  /** What was applied to the subscription before; undefined if the event says nothing of one. */
  seen: ObjectState | null | undefined
}

/** What is applied in one transaction. */
type Application = Pick<Decision, 'effect' | 'seen'> & {
  event: BillingEvent
  now: Date
  plans: BillingPlans | null
  metadata: readonly string[]
  /** The transaction is in the tenant that has the invoice of this payment, if that still exists. */
  isPaymentKnown: boolean
}

/**
 * The tenant of the invoices. `userId` is null if the tenant is the customer itself, or if it was found by the payment
 * and not by the customer.
 */
type Payee = { userId: number | null; tenantId: string }

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
  const { provider = signed, plans = null, metadata = [], api = null } = options
  const { traceparent = null } = options
  const received = { db, eventId, now, options }
  const body = await findBody(db, eventId)
  if (body === undefined) {
    return endWithoutEffect(received, 'missing', (tx) => requireMissing(tx, eventId))
  }
  const event = parseEvent(provider, eventId, body)
  const { ignored } = event
  if (ignored !== null) {
    return endWithoutEffect(received, 'ignored', (tx) => markIgnored(tx, eventId, ignored))
  }

  const { effect: decided, applied, seen } = await decide(db, provider, event, api)
  const effect = await withRefunds(decided, api)
  const work = { ...received, applied }
  if (effect.kind === 'checkout') return linkByCheckout(work, effect)
  const isPaymentKnown = await hasInvoice(db, effect)
  const application = { effect, seen, event, now, plans, metadata, isPaymentKnown }
  const withCause = <Facts>(entry: Entry<Facts>) =>
    withSettings(entry, () => causeSettings({ billingEventId: event.id }, traceparent))
  if (isPaymentKnown && 'payment' in effect && effect.payment !== null) {
    return apply(work, application, withCause(enterInvoice(event.id, effect.payment)))
  }
  const customer = effect.kind === 'none' ? null : effect.customer
  if (customer === null) return apply(work, application, withoutScope)
  const former = effect.kind === 'subscription' ? (seen?.customer ?? customer) : customer
  if (event.objectId !== null && former !== customer) {
    const moved = { from: former, to: customer }
    await takeFrom(db, withCause(enterCustomer(event.id, former)), event.objectId, moved, now)
  }
  return applyForCustomer(work, application, customer, withCause(enterCustomer(event.id, customer)))
}

/** @throws PoisonEvent if it can never be processed */
function parseEvent(
  provider: BillingProvider,
  eventId: string,
  body: Uint8Array | null,
): BillingEvent {
  if (body === null) throw new PoisonEvent('its body has been deleted')
  const event = provider.parse({ 'webhook-id': eventId }, body)
  if (event === null) throw new PoisonEvent('the recorded bytes are not an event')
  const { objectId, ignored } = event
  if (ignored === null && objectId !== null && objectId !== storableText(objectId)) {
    throw new PoisonEvent('data.object.id has characters that cannot be stored')
  }
  return event
}

/** An event that was received, and what else happens in the transaction that ends it. */
type Received = { db: Database; eventId: string; now: Date; options: ApplyOptions }
type Work = Received & { applied: Applied }

/** The customer may be nobody's yet: then the provider is asked who has it, or the event waits for a link. */
async function applyForCustomer(
  work: Work,
  application: Application,
  customer: string,
  entry: Entry<Subscriber | null>,
): Promise<Applied> {
  const { db, options } = work
  try {
    return await apply(work, application, entry)
  } catch (error) {
    if (!(error instanceof NotLinked)) throw error
  }
  const holder = (await options.api?.findHolder?.(customer)) ?? null
  const outcome =
    holder === null
      ? null
      : await db.write(withoutScope, (tx) => link(tx, customer, holder, options))
  const secondOf = outcome === 'has-another' ? holder : null
  return apply(work, application, entry, { customer, secondOf })
}

/**
 * @param waitsFor the customer for whose link the event waits if nobody has it
 * @throws NotLinked if nobody has it, and `waitsFor` is null
 */
function apply(
  work: Work,
  application: Application,
  entry: Entry<Payee | null | undefined>,
  waitsFor: Waiting | null = null,
): Promise<Applied> {
  const hook = hookOf(work, application)
  return hook.naming(
    work.db.write(entry, async (tx, payee) => {
      if (payee !== null) {
        const carriedOut = () => carryOut(tx, application, payee ?? null)
        return endOnce(tx, work, carriedOut, () => hook.run(tx, payee ?? null))
      }
      if (waitsFor === null) throw new NotLinked()
      await markUnlinked(tx, work.eventId, waitsFor)
      await work.options.settle?.(tx)
      return 'unlinked'
    }),
  )
}

/** The hook of the app about an event, and what names it if it throws or takes too long. */
function hookOf({ options }: Work, { event, effect }: Application) {
  const type = typeIn((options.provider ?? signed).kinds, event.type)
  const hook: BillingHook | null = options.hookOf?.(type) ?? null
  let isRunning = false
  return {
    async run(tx: Tx, payee: Payee | null): Promise<void> {
      const fact = payee === null ? null : factOf(event, type, effect, payee.userId)
      if (hook === null || payee === null || fact === null) return
      isRunning = true
      await hook.run(tx, payee.tenantId, fact)
      isRunning = false
    },
    async naming<T>(work: Promise<T>): Promise<T> {
      return work.catch((error) => {
        throw isRunning && hook !== null ? failureOf(hook.name, error) : error
      })
    },
  }
}

function linkByCheckout(
  work: Work,
  { customer, holder }: { customer: string; holder: Holder },
): Promise<Applied> {
  return work.db.write(withoutScope, (tx) =>
    endOnce(tx, work, async () => void (await link(tx, customer, holder, work.options))),
  )
}

/**
 * Does the work of an event unless another transaction has done it, and ends its job.
 * @param first done only once, also if the event is processed again
 */
async function endOnce(
  tx: Tx,
  { eventId, now, applied, options }: Work,
  work: () => Promise<void>,
  first: () => Promise<void> = async () => {},
): Promise<Applied> {
  const isFirst = await markProcessed(tx, eventId, now, applied, false)
  const isAgain =
    !isFirst && options.again === true && (await markProcessed(tx, eventId, now, applied, true))
  if (isFirst || isAgain) {
    await work()
    await options.onProcessed?.(tx)
  }
  if (isFirst) await first()
  await options.settle?.(tx)
  return isFirst || isAgain ? applied : 'already-processed'
}

async function link(
  tx: Tx,
  customer: string,
  holder: Holder,
  { provider = signed, onLinked }: ApplyOptions,
): Promise<ClaimOutcome> {
  const outcome = await claimUnlessFormer(tx, customer, holder, provider)
  if (outcome === 'linked') await onLinked?.(tx, customer)
  return outcome
}

/** A customer of a former provider gives way, unless its plan runs. */
async function claimUnlessFormer(
  tx: Tx,
  customer: string,
  holder: Holder,
  { name }: BillingProvider,
): Promise<ClaimOutcome> {
  const outcome = await claimCustomer(tx, customer, holder)
  const former = outcome === 'has-another' ? await findFormer(tx, holder, name) : null
  if (former === null) return outcome
  await releaseCustomer(tx, former)
  return claimCustomer(tx, customer, holder)
}

async function endWithoutEffect(
  { db, options }: Received,
  applied: Applied,
  note: (tx: Tx) => Promise<void>,
): Promise<Applied> {
  await db.write(withoutScope, async (tx) => {
    await note(tx)
    await options.settle?.(tx)
  })
  return applied
}

/** Ends the plan that a subscription gave to the user of another customer. */
function takeFrom(
  db: Database,
  entry: Entry<Subscriber | null>,
  objectId: string,
  { from, to }: { from: string; to: string },
  now: Date,
): Promise<void> {
  return db.write(entry, async (tx, subscriber) => {
    const before = subscriber === null ? null : await lockPlan(tx, subscriber)
    await moveSubscription(tx, objectId, { from, to }, now)
    if (subscriber === null || before === null || before.status === null) return
    const left = (await findLeading(tx, from)) ?? endedSubscription
    await changePlan(tx, subscriber, before, left, now)
  })
}

class NotLinked extends Error {}

/** For whose link an event waits. */
type Waiting = {
  customer: string
  /** For whom this program created the customer, if they have another. */
  secondOf: Holder | null
}

/** Asks the provider what is refunded, because a payment may report a refund that has failed. */
async function withRefunds(effect: Effect, api: ObjectApi | null): Promise<Effect> {
  const { findRefunded } = api ?? {}
  if (findRefunded === undefined) return effect
  if (effect.kind === 'refund' && effect.isFailed) {
    return { ...effect, remaining: await findRefunded(effect.payment) }
  }
  if (effect.kind !== 'payment' || effect.payment === null || !effect.refunded) return effect
  const refunded = await findRefunded(effect.payment)
  return refunded === null ? effect : { ...effect, refunded: Math.min(effect.refunded, refunded) }
}

/** Decides by the current state of the object, or by the event if the provider returns no state. */
async function decide(
  db: Database,
  provider: BillingProvider,
  event: BillingEvent,
  api: ObjectApi | null,
): Promise<Decision> {
  const { objectId, isState, related } = event
  const seen = isState && objectId !== null ? await findObjectState(db, objectId) : undefined
  const object = await findObject(event, api)
  if (object === 'gone') return { effect: endOf(provider, event), applied: 'gone', seen }
  if (object !== 'unknown') {
    return { effect: provider.effectOf(event, object), applied: 'processed', seen }
  }
  if (related !== null) throw new Error('the provider does not know the object of this event')
  const effect = provider.effectOf(event, event.object)
  const isOld = isStale(event, effect, seen ?? null, provider.endsAreFinal)
  return isOld
    ? { effect: { kind: 'none' }, applied: 'stale', seen }
    : { effect, applied: 'processed', seen }
}

/** The present object; `unknown` if only the copy in the event is available. */
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
  if (kind === 'invoice' && api.findInvoice !== undefined) {
    return api.findInvoice(objectId, payerIn(event))
  }
  return 'unknown'
}

/** A subscription that the provider has deleted is over. */
function endOf(provider: BillingProvider, event: BillingEvent): Effect {
  const effect = event.related === null ? provider.effectOf(event, event.object) : null
  if (effect?.kind !== 'subscription') return { kind: 'none' }
  return { ...effect, state: { ...effect.state, status: 'canceled' } }
}

/** The customer of an event, for the limit of calls about one customer. */
function payerIn({ object }: BillingEvent): string | undefined {
  const customer = referenceOf(object.customer ?? object.customer_id)
  return typeof customer === 'string' ? customer : undefined
}

/** Whether its payment has an invoice. The customer may belong to another user since then. */
async function hasInvoice(db: Database, effect: Effect): Promise<boolean> {
  return 'payment' in effect && effect.payment !== null && isPaymentKnown(db, effect.payment)
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

/**
 * The body was looked for in another transaction, which after a failover may have been on a standby that had not
 * replayed the event yet.
 * @throws if the event exists
 */
async function requireMissing(tx: Tx, eventId: string): Promise<void> {
  const events = await tx.receivedEvent.count({ where: { eventId } })
  if (events > 0) throw new Error('the event was not found at first')
}

/** Marks an event as ignored that was recorded with a job, because other settings applied then. */
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
async function markUnlinked(tx: Tx, eventId: string, waiting: Waiting): Promise<void> {
  const { customer, secondOf } = waiting
  await lockLinks(tx)
  const linked = await tx.sql`SELECT FROM enter_billing_event(${eventId}, ${customer}, NULL)`
  if (linked.length > 0) throw new Error('the customer was linked meanwhile')
  await tx.receivedEvent.updateMany({
    where: { eventId, status: { not: 'processed' } },
    data: {
      status: 'unlinked',
      customer,
      outcome: secondOf === null ? null : secondCustomer,
      lastError:
        secondOf === null
          ? null
          : `this customer is of ${holderText(secondOf)}, who has another customer`,
      attempts: { increment: 1 },
    },
  })
}

async function carryOut(tx: Tx, application: Application, payee: Payee | null): Promise<void> {
  const { effect, event, now, plans } = application
  switch (effect.kind) {
    case 'payment':
      if (payee !== null) await applyPayment(tx, application, effect, payee)
      return
    case 'refund':
    case 'dispute': {
      const isInvoiced = await lockInvoiced(tx, application, effect.payment, payee)
      await putClaim(tx, effect, event.created, now)
      if (effect.kind === 'refund' && effect.remaining !== null) {
        await lowerRefunded(tx, effect.payment, effect.remaining, event.created, now)
      }
      if (!isInvoiced || payee === null) return
      return updateInvoice(tx, payee, effect.payment, await findClaims(tx, effect.payment), now)
    }
    case 'subscription': {
      if (payee === null) return
      const before = await lockPlan(tx, payee)
      const { customer, state } = effect
      const details = effect.details && {
        ...effect.details,
        metadata: allowedIn(effect.metadata ?? {}, application.metadata),
      }
      const { id: eventId, created, objectId: id } = event
      const objectId = id ?? `subscription of ${customer}`
      const plan = planOf(state, plans)
      const { seen } = application
      const rank = rankOf(plan, plans)
      const seats = seatsOf(plan, details, plans)
      const put = { objectId, customer, eventId, created, state, plan, rank, seats, details }
      await putSubscription(tx, put, seen, now)
      const leading = await findLeading(tx, customer)
      if (before !== null && leading !== null) {
        await changePlan(tx, payee, before, leading, now)
      }
      return
    }
    case 'checkout': // linkByCheckout
    case 'none':
      return
  }
}

async function applyPayment(
  tx: Tx,
  application: Application,
  effect: Extract<Effect, { kind: 'payment' }>,
  payee: Payee,
): Promise<void> {
  const { event, now } = application
  const { payment, customer, amount, currency, digits, refunded } = effect
  const forManagers = payee.userId === null
  const invoice = { amount, currency, digits, sourceEvent: event.id, payment, forManagers }
  if (payment === null) {
    return createInvoice(tx, payee, invoice, { refunded: refunded ?? 0, dispute: null }, now)
  }
  const isInvoiced = await lockInvoiced(tx, application, payment, payee)
  if (refunded !== null) await putRefunded(tx, payment, refunded, event.created, now)
  const state = await findClaims(tx, payment)
  if (isInvoiced) return updateInvoice(tx, payee, payment, state, now)
  await createInvoice(tx, payee, invoice, state, now)
  await putPayer(tx, payment, { customer, tenantId: payee.tenantId })
}

/**
 * Locks a payment.
 * @returns whether it has its invoice
 * @throws Error if it has meanwhile got its invoice in another tenant than that of the transaction
 */
async function lockInvoiced(
  tx: Tx,
  { now, isPaymentKnown }: Application,
  payment: string,
  payee: Payee | null,
): Promise<boolean> {
  const invoiced = await lockPayment(tx, payment, now)
  if (invoiced !== null && !isPaymentKnown && invoiced.tenant !== payee?.tenantId) {
    throw new Error('the payment has just arrived')
  }
  return invoiced !== null
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

/**
 * Whether a newer state was applied before. An event without a time is never stale. Of events of one
 * second, the creation is the oldest, and a subscription that has ended stays ended.
 * @param endsAreFinal then an end is the newest state, whenever it was reported
 */
function isStale(
  { id, type, created }: BillingEvent,
  effect: Effect,
  state: ObjectState | null,
  endsAreFinal: boolean,
): boolean {
  if (state === null || effect.kind !== 'subscription') return false
  const hasEnded = isEnd(state.status)
  if (endsAreFinal && hasEnded !== isEnd(effect.state.status)) return hasEnded
  if (state.newestEvent === id) return false
  const newest = state.newestCreated
  if (newest === null || created === null) return false
  if (created !== newest) return created < newest
  return type.endsWith('.created') || hasEnded
}

function isEnd(status: string | null): boolean {
  return endedStatuses.some((one) => one === status)
}

/**
 * Opens a transaction in the tenant that gets the invoices of a billing customer: that of the user
 * who has the customer id, or the tenant that has it, or none. Only a recorded event opens it. The scope has no person.
 */
function enterCustomer(eventId: string, customer: string): Entry<Subscriber | null> {
  return {
    statement: () =>
      Prisma.sql`SELECT user_id, tenant_id FROM enter_billing_event(${eventId}, ${customer}, NULL)`,
    admit(rows) {
      const [row] = rows as { user_id: string | null; tenant_id: string }[]
      if (row === undefined) return null
      const { user_id, tenant_id: tenantId } = row
      return { userId: user_id === null ? null : Number(user_id), tenantId }
    },
  }
}

/** Opens a transaction in the tenant that has the invoice of a payment; undefined if that has been deleted. */
function enterInvoice(eventId: string, payment: string): Entry<Payee | undefined> {
  return {
    statement: () =>
      Prisma.sql`SELECT tenant_id FROM enter_billing_event(${eventId}, NULL, ${payment})`,
    admit(rows) {
      const [row] = rows as { tenant_id: string }[]
      return row && { userId: null, tenantId: row.tenant_id }
    },
  }
}
