import type { PgBoss } from 'pg-boss'
import Type from 'typebox'
import { type Acting, defineAction } from '#src/actions/action.ts'
import { CreatedAt, OwnUuid } from '#src/http/fields.ts'
import { readList } from '#src/http/lists/pagination.ts'
import { SortBy } from '#src/http/lists/query.ts'
import { Problem } from '#src/http/problems.ts'
import {
  Id,
  Line,
  means,
  Nullable,
  PageOf,
  PageQuery,
  Time,
  Uuid,
  UuidParams,
} from '#src/http/schemas.ts'
import { Subscription } from '#src/webhooks/events/program-kinds.ts'
import { customerList, linkCustomer, listCustomers, toCustomerProblem } from './customers.ts'
import { intervals, scheduledKinds } from './details.ts'
import { dismissEvent } from './dismiss.ts'
import {
  EventParams,
  EventType,
  findReceived,
  forwardingStatuses,
  listReceived,
  receivedList,
  Status,
} from './events.ts'
import { holderColumns, holderOf } from './holder.ts'
import {
  createReconciliation,
  findReconciliation,
  listReconciliations,
  reconciliationList,
  reconciliationStatuses,
} from './reconciliation.ts'
import { createReplay, findReplay } from './replays.ts'
import { listOwnSubscriptions, listSubscriptions, subscriptionList } from './subscriptions.ts'

const ForwardingStatus = Type.Enum([...forwardingStatuses], {
  title: 'BillingEventForwardingStatus',
  description:
    '`waiting` for its next attempt, `delivered` to the app, or `failed`: no further attempt follows by itself',
})

const ProviderEventId = Type.String({ description: 'Id of the event at the billing provider' })
const Received = Type.Object(
  {
    id: ProviderEventId,
    type: Type.String({ description: 'Kind of the event, in the words of the billing provider' }),
    receivedAt: means(Time, 'When it was recorded, in UTC'),
    status: Status,
    attempts: Type.Integer({ description: 'Times that its processing was tried' }),
    lastError: Nullable(
      Type.String({ description: 'Why the latest try failed; null if none has failed' }),
    ),
    outcome: Nullable(
      Type.String({
        description:
          '`processed`; `stale` (a newer state of the object was applied before); `gone` (the provider has deleted the object). Of an ignored event the reason: `kind`, `guest`, `test-mode` or `connected-account`. Of an unlinked event `second-customer`: its user has another customer',
      }),
    ),
    processedAt: Nullable(means(Time, 'When its processing ended; null before')),
    otherBodies: Type.Integer({
      description: 'Duplicates of the id with another body; the first body is stored',
    }),
    source: Type.Enum(['webhook', 'reconciled'], {
      description:
        '`reconciled`: its webhook never arrived, and it was found in the list of the provider',
    }),
    dismissedReason: Nullable(
      Type.String({ description: 'Why an operator dismissed it, while its status is `dismissed`' }),
    ),
    customer: Nullable(
      Type.String({ description: 'The customer whose link an `unlinked` event waits for' }),
    ),
    forwarding: Nullable(
      Type.Object(
        {
          status: ForwardingStatus,
          attempts: Type.Integer({ description: 'Times that it was posted to the app' }),
          lastError: Nullable(
            Type.String({ description: 'Why the latest time failed; null if none has failed' }),
          ),
          attemptedAt: Nullable(
            means(Time, 'When the latest attempt ended; null before the first'),
          ),
        },
        {
          title: 'BillingEventForwarding',
          description:
            'Whether the app has it (`APP_WEBHOOK_URL`); null if it is not posted. After `failed` a replay of the event posts it again',
        },
      ),
    ),
  },
  { title: 'BillingEvent' },
)
const ReceivedWithBody = Type.Object(
  {
    ...Received.properties,
    body: Nullable(
      Type.String({ description: 'As it was received, unparsed; null once it has been deleted' }),
    ),
  },
  { title: 'BillingEventWithBody' },
)
const Dismissal = Type.Object(
  {
    reason: Type.String({ ...Line(500), description: 'Kept with the event and in the audit log' }),
  },
  { title: 'BillingEventDismissal', additionalProperties: false },
)

const listQuery = Type.Object(
  {
    ...PageQuery.properties,
    status: Type.Optional(Status),
    forwarding: Type.Optional(ForwardingStatus),
    type: Type.Optional(EventType),
    from: Type.Optional(Type.String({ ...Time, description: 'Received at this time or later' })),
    to: Type.Optional(Type.String({ ...Time, description: 'Received before this time' })),
    sort: SortBy('receivedAt'),
  },
  { additionalProperties: false },
)

const Replay = Type.Object(
  {
    id: OwnUuid,
    total: Type.Integer({ description: 'Events selected by the request' }),
    succeeded: Type.Integer({ description: 'Events that were processed without an error so far' }),
    failed: Type.Integer({ description: 'Events that failed again; each has its `lastError`' }),
    createdAt: CreatedAt,
    finishedAt: Nullable(means(Time, 'When it ended; null while it runs')),
  },
  { title: 'BillingReplay' },
)

const Selection = Type.Object(
  {
    status: means(Status, 'The status of the events to process again'),
    from: Type.Optional(means(Time, 'Only those received at this time or later')),
    to: Type.Optional(means(Time, 'Only those received before this time')),
  },
  { title: 'NewBillingReplay', additionalProperties: false },
)

const replay = { resource: 'billing-event', action: 'replay' } as const
const explanation =
  'For operators. Processes each event again, in order of arrival. Effects are keyed by the event, so none happens twice. Returns the replay; GET /billing/replays/:id returns its progress.'

const Reconciliation = Type.Object(
  {
    id: OwnUuid,
    from: means(Time, 'It compares the events that the provider created from this time'),
    to: means(Time, 'until before this time'),
    dryRun: Type.Boolean({ description: 'It only counts' }),
    scheduled: Type.Boolean({ description: 'False if an operator asked for it' }),
    status: Type.Enum([...reconciliationStatuses], {
      description: '`running` until all of the list is read; `failed` if that was not possible',
    }),
    seen: Type.Integer({ description: 'Events in the list of the provider' }),
    missed: Type.Integer({
      description: 'Events whose webhook never arrived. Without `dryRun` they are recorded.',
    }),
    different: Type.Integer({
      description: 'Known events whose content in the list is not what was received',
    }),
    refused: Type.Integer({ description: 'Members of the list that are no events of this time' }),
    missedIds: Type.Array(Type.String(), { description: 'The first hundred' }),
    differentIds: Type.Array(Type.String(), { description: 'The first hundred' }),
    error: Nullable(Type.String({ description: 'Why it failed; null if it did not' })),
    createdAt: CreatedAt,
    finishedAt: Nullable(means(Time, 'When it ended; null while it runs')),
  },
  { title: 'BillingReconciliation' },
)

const Request = Type.Object(
  {
    from: Type.Optional(means(Time, 'Events created from this time; by default a day before `to`')),
    to: Type.Optional(means(Time, 'until before this time; by default ten minutes ago')),
    dryRun: Type.Optional(Type.Boolean({ description: 'Count only, record nothing' })),
  },
  { title: 'NewBillingReconciliation', additionalProperties: false },
)

const HolderUser = Nullable(
  means(Id, 'The user who has the customer; null if a tenant has it, or nobody'),
)
const HolderTenant = Nullable(
  means(
    Uuid,
    'The tenant that has the customer (`BILLING_CUSTOMER`); null if a user has it, or nobody',
  ),
)

const Customer = Type.Object(
  {
    customer: Type.String({ description: 'Id at the billing provider' }),
    userId: HolderUser,
    email: Nullable(Type.String({ description: 'Of this user; null if there is none' })),
    tenantId: HolderTenant,
    tenantName: Nullable(Type.String({ description: 'Of this tenant; null if a user has it' })),
  },
  { title: 'BillingCustomer' },
)
const CustomerParams = Type.Object(
  { customer: Line(255, 'Id of the customer at the billing provider') },
  { additionalProperties: false },
)
const CustomerLink = Type.Object(
  {
    userId: Type.Optional(
      Nullable(means(Id, 'The user who pays as this customer; null unlinks it')),
    ),
    tenantId: Type.Optional(means(Uuid, 'Instead of a user: the customer is this tenant')),
  },
  { title: 'BillingCustomerLink', additionalProperties: false },
)
const LinkedCustomer = Type.Object(
  {
    customer: Type.String({ description: 'Id at the billing provider' }),
    userId: HolderUser,
    tenantId: HolderTenant,
  },
  { title: 'LinkedBillingCustomer' },
)

const OwnSubscription = Type.Object(
  {
    id: Type.String({ description: 'Id at the billing provider' }),
    plan: Nullable(
      Type.String({ description: 'The plan that it gives now; null if it gives none' }),
    ),
    ...Subscription.properties,
    currency: Nullable(
      Type.String({
        description: 'ISO 4217, in small letters; null if its prices have several or none',
        examples: ['eur'],
      }),
    ),
    digits: Nullable(
      Type.Integer({
        description:
          'Of `amount` after the decimal point: 4900 with 2 is 49.00; null without currency',
      }),
    ),
    items: Type.Array(
      Type.Object({
        price: Nullable(Type.String({ description: 'Id at the billing provider' })),
        quantity: Nullable(
          Type.Integer({ description: 'Seats, or how many of it; null if it is measured' }),
        ),
        amount: Nullable(
          Type.Integer({
            description:
              'Minor units for one of it in each interval, without discounts; null if it is not one number',
          }),
        ),
        interval: Nullable(
          Type.Enum([...intervals], { description: 'The unit of the time between two payments' }),
        ),
        intervalCount: Nullable(
          Type.Integer({ description: 'How many of `interval`: 3 with `month` is every quarter' }),
        ),
      }),
      { description: 'What is paid for' },
    ),
    trialEndsAt: Nullable(means(Time, 'When the trial ends or has ended; null without one')),
    paymentsPaused: Nullable(
      Type.Object(
        { until: Nullable(means(Time, 'When payments begin again; null if that is open')) },
        { description: 'Nothing is charged for now, and the plan stays; null if payments go on' },
      ),
    ),
    scheduledChange: Nullable(
      Type.Object(
        {
          kind: Type.Enum([...scheduledKinds], {
            description: 'What happens; `change` is another plan, price or quantity',
          }),
          at: Nullable(means(Time, 'When; null if the billing provider does not say it')),
        },
        { description: 'What is planned already; null if nothing is' },
      ),
    ),
    metadata: Type.Record(Type.String(), Type.String(), {
      description: 'Of what the billing provider has beside it, the keys of `BILLING_METADATA`',
    }),
  },
  { title: 'OwnSubscription' },
)
const AnySubscription = Type.Object(
  {
    ...OwnSubscription.properties,
    customer: Type.String({ description: 'Id at the billing provider' }),
    userId: HolderUser,
    tenantId: HolderTenant,
  },
  { title: 'BillingSubscription' },
)

const tag = 'billing events'

type By = Acting<object>

/** The operations on events received from the billing provider, for operators. */
export const billingEventActions = {
  list: defineAction({
    name: 'listBillingEvents',
    rule: { resource: 'billing-event', action: 'read' },
    tag,
    summary: 'List received billing events, newest first',
    description: 'For operators. To find a rare `type`, set `from` and `to`.',
    query: listQuery,
    result: PageOf(Received),
    run: ({ tx }: By, { query }) => {
      const { page, filter } = readList(query, receivedList)
      return listReceived(tx, filter, page)
    },
  }),
  get: defineAction({
    name: 'getBillingEvent',
    rule: { resource: 'billing-event', action: 'read' },
    tag,
    summary: 'Read a received billing event with its raw body',
    description: 'For operators. `body` is null after its retention has ended.',
    params: EventParams,
    result: ReceivedWithBody,
    run: ({ tx }: By, { params }) => findReceived(tx, params.id),
  }),
  dismiss: defineAction({
    name: 'dismissBillingEvent',
    rule: { resource: 'billing-event', action: 'update' },
    tag,
    summary: 'Dismiss a dead billing event',
    description:
      'For operators. The event need not be processed: it is no longer counted as dead, and not replayed with the dead events, and not processed when its customer is linked. Replayed by its id, it is processed, or what it was before. 409 if it is neither dead nor unlinked.',
    params: EventParams,
    body: Dismissal,
    result: ReceivedWithBody,
    problems: ['conflict'],
    async run({ tx, by }: Acting<{ userId: number }>, { params: { id }, body }) {
      await dismissEvent(tx, by, { eventId: id, reason: body.reason }, by.clientInfo)
      return findReceived(tx, id)
    },
  }),
}

/** The operations that process received events again, one or many. */
export function billingReplayActions(queue: PgBoss) {
  return {
    one: defineAction({
      name: 'replayBillingEvent',
      rule: replay,
      tag,
      summary: 'Process a received billing event again',
      description: `${explanation} 409 if its body has been deleted.`,
      params: EventParams,
      result: Replay,
      status: 202,
      problems: ['conflict'],
      once: true,
      refusals: { 'no-body': 'Its body has been deleted.' },
      location: ({ id }: { id: string }) => `/billing/replays/${id}`,
      async run({ tx }: By, { params: { id } }) {
        const event = await findReceived(tx, id)
        if (event === null) return null
        return event.body === null ? 'no-body' : createReplay(tx, queue, { ids: [id] })
      },
    }),
    many: defineAction({
      name: 'replayBillingEvents',
      rule: replay,
      tag,
      summary: 'Process many received billing events again',
      description: explanation,
      body: Selection,
      result: Replay,
      status: 202,
      once: true,
      location: ({ id }: { id: string }) => `/billing/replays/${id}`,
      run: ({ tx }: By, { body }) => createReplay(tx, queue, body),
    }),
    get: defineAction({
      name: 'getBillingReplay',
      rule: replay,
      tag,
      summary: 'Read the progress of a replay',
      params: UuidParams,
      result: Replay,
      run: ({ tx }: By, { params }) => findReplay(tx, params.id),
    }),
  }
}

/** The operations that compare the billing provider's list of events with the received events. */
export function reconciliationActions(queue: PgBoss) {
  return {
    create: defineAction({
      name: 'createBillingReconciliation',
      rule: { resource: 'billing-event', action: 'replay' },
      tag,
      summary: 'Compare the events of the provider with those received',
      description:
        'For operators. Reads the list of the provider and records each event whose webhook never arrived, with the same effect. Needs BILLING_API_URL. Without `from` and `to` it covers the last day; never the last ten minutes, because their webhooks may still arrive. The same runs every 15 minutes by itself.',
      body: Request,
      result: Reconciliation,
      status: 202,
      once: true,
      location: ({ id }: { id: string }) => `/billing/reconciliations/${id}`,
      run: ({ tx }: By, { body }) => createReconciliation(tx, queue, body),
    }),
    list: defineAction({
      name: 'listBillingReconciliations',
      rule: { resource: 'billing-event', action: 'read' },
      tag,
      summary: 'List comparisons with the events of the provider, newest first',
      description: 'For operators.',
      list: reconciliationList,
      result: PageOf(Reconciliation),
      run: ({ tx }: By, { page }) => listReconciliations(tx, page),
    }),
    get: defineAction({
      name: 'getBillingReconciliation',
      rule: { resource: 'billing-event', action: 'read' },
      tag,
      summary: 'Read a comparison with the events of the provider',
      description: 'For operators.',
      params: UuidParams,
      result: Reconciliation,
      run: ({ tx }: By, { params }) => findReconciliation(tx, params.id),
    }),
  }
}

/** The operations on what people have bought. */
export const subscriptionActions = {
  own: defineAction({
    name: 'listSubscriptions',
    rule: { resource: 'profile', action: 'read' },
    tag: 'billing',
    summary: 'List your subscriptions',
    description:
      'As the billing provider last reported them, newest first, at most a hundred; those of your tenant too, if you manage it. The one that decides the plan is `subscription` of `GET /me`.',
    result: Type.Object(
      { data: Type.Array(OwnSubscription, { description: 'Newest first' }) },
      { title: 'OwnSubscriptions' },
    ),
    run: async ({ tx }: By) => ({ data: await listOwnSubscriptions(tx) }),
  }),
  all: defineAction({
    name: 'listBillingSubscriptions',
    rule: { resource: 'billing-customer', action: 'read' },
    tag: 'billing customers',
    summary: 'List the subscriptions of all customers',
    description:
      'For operators. In the order of their ids, also those of customers without a user.',
    list: subscriptionList,
    result: PageOf(AnySubscription),
    run: ({ tx }: By, { page }) => listSubscriptions(tx, page),
  }),
}

/** The operations on who gets the invoices and the plan of a billing customer, for operators. */
export function billingCustomerActions(queue: PgBoss) {
  return {
    list: defineAction({
      name: 'listBillingCustomers',
      rule: { resource: 'billing-customer', action: 'read' },
      tag: 'billing customers',
      summary: 'List the billing customers that are linked to users and tenants',
      description: 'For operators.',
      list: customerList,
      result: PageOf(Customer),
      run: ({ tx }: By, { page }) => listCustomers(tx, page),
    }),
    link: defineAction({
      name: 'linkBillingCustomer',
      rule: { resource: 'billing-customer', action: 'update' },
      tag: 'billing customers',
      summary: 'Link a billing customer to a user or a tenant',
      description:
        'For operators. From now on the customer’s charges create invoices in the user’s own tenant, and its subscription sets the user’s plan; with `tenantId` the invoices are the tenant’s, and the plan is that of its members. It is taken from who had it; existing invoices stay. 400 without exactly one of `userId` and `tenantId`, 404 if the user or tenant does not exist, 409 if they have another customer.',
      params: CustomerParams,
      body: CustomerLink,
      result: LinkedCustomer,
      problems: ['conflict'],
      async run({ tx, by }: Acting<{ userId: number }>, { params: { customer }, body }) {
        const { userId, tenantId = null } = body
        if ((userId === undefined) === (tenantId === null)) {
          throw new Problem('malformed', { detail: 'Name either userId or tenantId.' })
        }
        const holder = holderOf(userId ?? null, tenantId)
        const linked = await linkCustomer(tx, queue, by, customer, holder, by.clientInfo)
        if (typeof linked === 'string') throw toCustomerProblem(linked)
        return { customer, ...holderColumns(linked.holder) }
      },
    }),
  }
}
