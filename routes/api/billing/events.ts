import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { dismissEvent } from '#src/billing/dismiss.ts'
import {
  EventParams,
  EventType,
  findReceived,
  forwardingStatuses,
  listReceived,
  receivedList,
  Status,
} from '#src/billing/events.ts'
import { readList } from '#src/http/lists/pagination.ts'
import { SortBy } from '#src/http/lists/query.ts'
import { found } from '#src/http/params.ts'
import { Line, Nullable, PageOf, PageQuery, problems, Time } from '#src/http/schemas.ts'

const ForwardingStatus = Type.Enum([...forwardingStatuses], {
  title: 'BillingEventForwardingStatus',
})
const Received = Type.Object(
  {
    id: Type.String(),
    type: Type.String(),
    receivedAt: Time,
    status: Status,
    attempts: Type.Integer(),
    lastError: Nullable(Type.String()),
    outcome: Nullable(
      Type.String({
        description:
          '`processed`; `stale` (a newer state of the object was applied before); `gone` (the provider has deleted the object). Of an ignored event the reason: `kind`, `guest`, `test-mode` or `connected-account`. Of an unlinked event `second-customer`: its user has another customer',
      }),
    ),
    processedAt: Nullable(Time),
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
          attempts: Type.Integer(),
          lastError: Nullable(Type.String()),
          attemptedAt: Nullable(Time),
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
  { ...Received.properties, body: Nullable(Type.String()) },
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

/** Events received from the billing provider, for operators. */
const billingEvents: FastifyPluginAsyncTypebox = async function billingEvents(app) {
  app.get(
    '/billing/events',
    {
      config: { access: { resource: 'billing-event', action: 'read' } },
      schema: {
        operationId: 'listBillingEvents',
        tags: ['billing events'],
        summary: 'List received billing events, newest first',
        description: 'For operators. To find a rare `type`, set `from` and `to`.',
        querystring: listQuery,
        response: { 200: PageOf(Received) },
      },
    },
    async (request) => {
      const { page, filter } = readList(request.query, receivedList)
      return app.db.read(request.entry, (tx) => listReceived(tx, filter, page))
    },
  )

  app.get(
    '/billing/events/:id',
    {
      config: { access: { resource: 'billing-event', action: 'read' } },
      schema: {
        operationId: 'getBillingEvent',
        tags: ['billing events'],
        summary: 'Read a received billing event with its raw body',
        description: 'For operators. `body` is null after its retention has ended.',
        params: EventParams,
        response: { 200: ReceivedWithBody },
      },
    },
    async (request) =>
      found(await app.db.read(request.entry, (tx) => findReceived(tx, request.params.id))),
  )

  app.post(
    '/billing/events/:id/dismiss',
    {
      config: { access: { resource: 'billing-event', action: 'update' } },
      schema: {
        operationId: 'dismissBillingEvent',
        tags: ['billing events'],
        summary: 'Dismiss a dead billing event',
        description:
          'For operators. The event need not be processed: it is no longer counted as dead, and not replayed with the dead events, and not processed when its customer is linked. Replayed by its id, it is processed, or what it was before. 409 if it is neither dead nor unlinked.',
        params: EventParams,
        body: Dismissal,
        response: { 200: ReceivedWithBody, ...problems('conflict') },
      },
    },
    async (request) => {
      const { sessionEntry, clientInfo, params, body } = request
      return app.db.write(sessionEntry, async (tx, operator) => {
        const dismissal = { eventId: params.id, reason: body.reason }
        await dismissEvent(tx, operator, dismissal, clientInfo)
        return found(await findReceived(tx, params.id))
      })
    },
  )
}

export default billingEvents
