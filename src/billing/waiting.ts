import type { BillingPlans } from '#src/config/billing.ts'
import { Prisma } from '#src/db/generated/client.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { type Page, type PageResult, pageOf } from '#src/http/lists/pagination.ts'
import { customerList } from './customers.ts'
import { type Effect, PoisonEvent } from './effect.ts'
import { mostCounted } from './events.ts'
import { planOf } from './plan.ts'
import type { BillingProvider } from './providers/provider.ts'

/** Minor units, and their digits after the decimal point. */
type Money = { amount: number; currency: string; digits: number }

/** What an event says, without asking the provider. */
type Meaning = {
  payment: ({ id: string } & Money) | null
  subscription: { id: string; created: number; plan: string | null } | null
}

/** An event that waits for the link of its customer. */
export type WaitingEvent = Meaning & { id: string; type: string; receivedAt: string }

/** A customer whose events wait until it is linked to a user. */
export type WaitingCustomer = {
  customer: string
  /** Up to `mostCounted`. */
  events: number
  /** When the oldest arrived; null if none waits. */
  since: string | null
  /** Events of this customer that an operator has dismissed, up to `mostCounted`. */
  dismissed: number
  /** Why no user got the customer, if the provider names one. */
  reason: string | null
  /** The oldest ones, up to `mostRead`; the payments and plans are theirs. */
  first: readonly WaitingEvent[]
  /** Paid amounts, one for each currency. */
  payments: readonly Money[]
  /** What the newest states of the subscriptions give. */
  plans: readonly string[]
}

type Reader = { provider: BillingProvider; plans: BillingPlans | null }

type CountRow = {
  customer: string
  events: number
  since: Date | null
  dismissed: number
  reason: string | null
}
type EventRow = {
  customer: string
  id: string
  type: string
  receivedAt: Date
  body: Uint8Array | null
}

export const waitingList = { name: 'waiting-customers', forms: customerList.forms }

/** Bounds the bodies that a page reads. */
export const mostRead = 20

/** Customers with events that wait for their link, in the order of their ids. For operators. */
export async function listWaiting(
  connection: Queryable,
  reader: Reader,
  page: Page,
): Promise<PageResult<WaitingCustomer>> {
  const [after = ''] = page.after ?? []
  // Reads one entry of the index for each customer, however many events it has.
  const customers = await connection.sql<{ customer: string }>`
    WITH RECURSIVE waiting (customer) AS (
      (SELECT customer FROM received_events
       WHERE status = 'unlinked' AND customer > ${after} ORDER BY customer LIMIT 1)
      UNION ALL
      SELECT (SELECT e.customer FROM received_events e
              WHERE e.status = 'unlinked' AND e.customer > waiting.customer
              ORDER BY e.customer LIMIT 1)
      FROM waiting WHERE waiting.customer IS NOT NULL
    )
    SELECT customer FROM waiting WHERE customer IS NOT NULL LIMIT ${page.limit + 1}`
  const listed = pageOf(
    customers,
    page,
    waitingList.name,
    ({ customer }) => [customer],
    ({ customer }) => customer,
  )
  const data = await describe(connection, reader, listed.data)
  return { ...listed, data, previousCursor: null } // it is read forwards only
}

/** What waits for one customer, which may be nothing. */
export async function findWaiting(
  connection: Queryable,
  reader: Reader,
  customer: string,
): Promise<WaitingCustomer[]> {
  return describe(connection, reader, [customer])
}

async function describe(
  connection: Queryable,
  reader: Reader,
  customers: readonly string[],
): Promise<WaitingCustomer[]> {
  const named = Prisma.sql`unnest(${[...customers]}::text[]) WITH ORDINALITY AS c (customer, position)`
  const counting = connection.sql<CountRow>`
    SELECT c.customer, waiting.events, waiting.since, waiting.reason, dismissed.events AS dismissed
    FROM ${named}
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS events, min(received_at) AS since, max(last_error) AS reason FROM (
        SELECT received_at, last_error FROM received_events e
        WHERE e.customer = c.customer AND e.status = 'unlinked'
        ORDER BY received_at LIMIT ${mostCounted}) AS capped) AS waiting
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS events FROM (
        SELECT FROM received_events e
        WHERE e.customer = c.customer AND e.status = 'dismissed' LIMIT ${mostCounted}) AS capped
    ) AS dismissed
    ORDER BY c.position`
  const reading = connection.sql<EventRow>`
    SELECT c.customer, e.id, e.type, e."receivedAt", e.body FROM ${named}
    CROSS JOIN LATERAL (
      SELECT event_id AS id, type, received_at AS "receivedAt", body FROM received_events
      WHERE customer = c.customer AND status = 'unlinked'
      ORDER BY received_at, event_id LIMIT ${mostRead}) AS e
    ORDER BY c.position, e."receivedAt", e.id`
  const [counts, rows] = await Promise.all([counting, reading])
  return counts.map(({ since, ...count }) => {
    const first = rows
      .filter(({ customer }) => customer === count.customer)
      .map(({ id, type, receivedAt, body }): WaitingEvent => {
        const meaning = meaningOf(reader, id, body)
        return { id, type, receivedAt: receivedAt.toISOString(), ...meaning }
      })
    return { ...count, since: since?.toISOString() ?? null, first, ...summaryOf(first) }
  })
}

/** Two events can be about one payment, and several about one subscription. */
function summaryOf(events: readonly WaitingEvent[]): Pick<WaitingCustomer, 'payments' | 'plans'> {
  const payments = new Map(
    events.flatMap(({ payment }) => (payment ? [[payment.id, payment]] : [])),
  )
  const amounts = new Map<string, Money>()
  for (const { amount, currency, digits } of payments.values()) {
    const before = amounts.get(currency)?.amount ?? 0
    amounts.set(currency, { amount: before + amount, currency, digits })
  }
  const states = events
    .flatMap(({ subscription }) => subscription ?? [])
    .toSorted((one, other) => one.created - other.created)
  const newest = new Map(states.map(({ id, plan }) => [id, plan]))
  return {
    payments: [...amounts.values()],
    plans: [...new Set([...newest.values()].flatMap((plan) => plan ?? []))],
  }
}

/** @param body null once it has been deleted */
function meaningOf({ provider, plans }: Reader, id: string, body: Uint8Array | null): Meaning {
  const read = body === null ? null : readEffect(provider, id, body)
  const none = { payment: null, subscription: null }
  if (read === null) return none
  const { effect, created, objectId } = read
  if (effect.kind === 'payment') {
    const { amount, currency, digits } = effect
    return { ...none, payment: { id: effect.payment ?? id, amount, currency, digits } }
  }
  if (effect.kind !== 'subscription') return none
  const plan = planOf(effect.state, plans)
  return { ...none, subscription: { id: objectId ?? id, created: created ?? 0, plan } }
}

/** The customer that a stored event names; null if only the provider knows it. */
export function customerIn(provider: BillingProvider, id: string, body: string): string | null {
  const effect = readEffect(provider, id, Buffer.from(body))?.effect
  return effect !== undefined && 'customer' in effect ? effect.customer : null
}

/** Null if the event does not say what it does: it is ignored, thin or broken. */
function readEffect(provider: BillingProvider, id: string, body: Uint8Array) {
  const event = provider.parse({ 'webhook-id': id }, body)
  if (event === null || event.ignored !== null || event.isThin) return null
  try {
    const effect: Effect = provider.effectOf(event, event.object)
    return { effect, created: event.created, objectId: event.objectId }
  } catch (error) {
    if (error instanceof PoisonEvent) return null
    throw error
  }
}
