import type { Tx } from '#src/db/database.ts'
import { type Page, pageOf } from '#src/http/lists/pagination.ts'
import { customerList } from './customers.ts'
import type { SubscriptionDetails } from './details.ts'
import { toSubscription } from './plans.ts'

type Row = {
  id: string
  status: string
  plan: string | null
  periodEnd: Date | null
  cancelsAt: Date | null
  details: SubscriptionDetails | null
}

const nothing: SubscriptionDetails = {
  currency: null,
  digits: null,
  items: [],
  trialEndsAt: null,
  paymentsPaused: null,
  scheduledChange: null,
  metadata: {},
}

/** A subscription as the API returns it to its owner, or to those who manage the tenant that has it. Times are RFC 3339. */
export type OwnSubscription = ReturnType<typeof toOwn>

/**
 * The subscriptions of the person who is asking, and those of their tenant if they manage it: newest first, at most a
 * hundred.
 */
export async function listOwnSubscriptions(tx: Tx) {
  const rows = await tx.sql<Row>`
    SELECT id, status, plan, period_end AS "periodEnd", cancels_at AS "cancelsAt", details
    FROM own_subscriptions()`
  return rows.map(toOwn)
}

export const subscriptionList = { name: 'subscriptions', forms: customerList.forms }

/** All subscriptions, in the order of their ids at the provider. For operators. */
export async function listSubscriptions(tx: Tx, page: Page) {
  const [after = null] = page.after ?? []
  const rows = await tx.sql<
    Row & { customer: string; userId: string | null; tenantId: string | null }
  >`
    SELECT id, customer, user_id AS "userId", tenant_id AS "tenantId", status, plan, period_end AS "periodEnd",
           cancels_at AS "cancelsAt", details
    FROM list_subscriptions(${after}, ${page.limit + 1}::int)`
  const listed = pageOf(
    rows,
    page,
    subscriptionList.name,
    ({ id }) => [id],
    ({ customer, userId, tenantId, ...row }) => ({
      ...toOwn(row),
      customer,
      userId: userId === null ? null : Number(userId),
      tenantId,
    }),
  )
  // The function of the database reads forwards only.
  return { ...listed, previousCursor: null }
}

function toOwn({ id, plan, details, ...state }: Row) {
  return { id, plan, ...toSubscription(state), ...nothing, ...details }
}
