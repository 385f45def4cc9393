import type { PgBoss } from 'pg-boss'
import Type, { type Static } from 'typebox'
import type { TenantPrincipal } from '#src/access/caller.ts'
import { type Acting, defineAction } from '#src/actions/action.ts'
import { CreatedAt, OwnUuid } from '#src/http/fields.ts'
import { readList } from '#src/http/lists/pagination.ts'
import { CreatedRange, SortBy } from '#src/http/lists/query.ts'
import { found } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import {
  means,
  NoBody,
  Nullable,
  PageOf,
  PageQuery,
  Time,
  Uuid,
  UuidParams,
} from '#src/http/schemas.ts'
import { findEndpoint } from '#src/webhooks/endpoints/endpoints.ts'
import { EventTypeName, idleHints } from '#src/webhooks/endpoints/schemas.ts'
import { eventFeed, readFeed } from '#src/webhooks/events/feed.ts'
import {
  countDeliveries,
  countedDeliveries,
  deliveryList,
  findDelivery,
  listDeliveries,
} from './deliveries.ts'
import { searchedDeliveries } from './filter.ts'
import {
  cancelReplay,
  createReplay,
  findReplay,
  isReplayRange,
  maxOpenReplays,
  maxRangeDays,
  maxSelected,
  type ReplaySelection,
  replayDelivery,
} from './replays.ts'
import { Delivery, DeliveryStatusName, EventIdFilter, HttpStatusFilter } from './schemas.ts'

const filters = {
  ...CreatedRange,
  status: Type.Optional(DeliveryStatusName),
  eventType: Type.Optional(EventTypeName),
  eventId: Type.Optional(EventIdFilter),
  httpStatus: Type.Optional(HttpStatusFilter),
}

export const DeliveryQuery = Type.Object(
  { ...PageQuery.properties, ...filters, sort: SortBy('createdAt') },
  { additionalProperties: false },
)

const CountQuery = Type.Object(filters, { additionalProperties: false })
const Count = Type.Object(
  {
    count: Type.Integer({ minimum: 0, description: 'Deliveries that match' }),
    isPartial: Type.Boolean({
      description: `The time range has more than the ${countedDeliveries.toLocaleString('en-GB')} deliveries that are read, the newest ones: there may be more than \`count\``,
    }),
  },
  { title: 'DeliveryCount' },
)

const searched = `With \`status\`, \`eventType\` or an \`httpStatus\` of 2xx only the newest ${searchedDeliveries.toLocaleString('en-GB')} deliveries of the time range are searched.`

const Replay = Type.Object(
  {
    id: OwnUuid,
    endpointId: means(Uuid, 'The endpoint that it sends to'),
    from: means(Time, 'It sends deliveries created at this time or later'),
    to: means(Time, 'and before this time'),
    status: Nullable(means(DeliveryStatusName, 'They have this status; null for any')),
    eventType: Nullable(means(EventTypeName, 'Their events have this type; null for any')),
    eventId: Nullable(Type.String({ description: 'They are of this event; null for any' })),
    httpStatus: Nullable(
      means(HttpStatusFilter, 'Their latest attempts have this status or class; null for any'),
    ),
    deliveryIds: Nullable(
      Type.Array(Uuid, {
        description: 'The selected deliveries; null for all of the range that match',
      }),
    ),
    total: Type.Integer({
      description:
        'Deliveries selected by the request. If there are more than are counted, it grows with `done`',
    }),
    done: Type.Integer({ description: 'Deliveries started so far' }),
    createdAt: CreatedAt,
    finishedAt: Nullable(means(Time, 'When all were started, or it was cancelled; null before')),
    cancelledAt: Nullable(
      Type.String({
        ...Time,
        description:
          'Deliveries that were not started by then are not sent; null if it was not cancelled',
      }),
    ),
  },
  { title: 'EndpointReplay' },
)

const Selection = Type.Object(
  {
    from: Type.Optional(means(Time, 'Deliveries created at this time or later; needs `to`')),
    to: Type.Optional(
      means(Time, `and before this time, at most ${maxRangeDays} days after \`from\``),
    ),
    status: Type.Optional(DeliveryStatusName),
    eventType: Type.Optional(EventTypeName),
    eventId: Type.Optional(EventIdFilter),
    httpStatus: Type.Optional(HttpStatusFilter),
    deliveryIds: Type.Optional(
      Type.Array(Uuid, {
        minItems: 1,
        maxItems: maxSelected,
        description: 'Only these, in place of all other fields',
      }),
    ),
  },
  { title: 'NewEndpointReplay', additionalProperties: false },
)

const tooManyHint = `At most ${maxOpenReplays.perEndpoint} replays of an endpoint and ${maxOpenReplays.perTenant} of a tenant are open at once`
const retryAfterSeconds = 30

const ReplayParams = Type.Object(
  {
    id: means(Uuid, '`id` of the endpoint'),
    replayId: means(Uuid, '`id` of the replay, as it was returned'),
  },
  { additionalProperties: false },
)

const tag = 'webhook deliveries'
const refusals = idleHints
const idle = 'To a disabled or paused endpoint nothing is sent again'

type By = Acting<TenantPrincipal>

/** The operations on deliveries of events to endpoints. */
export const deliveryActions = {
  list: defineAction({
    name: 'listDeliveries',
    rule: { resource: 'delivery', action: 'read' },
    tag,
    summary: 'List the deliveries to an endpoint, newest first, with their attempts',
    description: searched,
    params: UuidParams,
    query: DeliveryQuery,
    result: PageOf(Delivery),
    run: ({ tx, by }: By, { params, query }) => {
      const { page, filter } = readList(query, deliveryList)
      return listDeliveries(tx, by, params.id, filter, page)
    },
  }),
  count: defineAction({
    name: 'countDeliveries',
    rule: { resource: 'delivery', action: 'read' },
    tag,
    summary: 'Count the deliveries to an endpoint, as before a replay of them',
    params: UuidParams,
    query: CountQuery,
    result: Count,
    async run({ tx, by }: By, { params, query }) {
      found(await findEndpoint(tx, by, params.id))
      return countDeliveries(tx, by, params.id, query)
    },
  }),
  get: defineAction({
    name: 'getDelivery',
    rule: { resource: 'delivery', action: 'read' },
    tag,
    summary: 'Read a delivery with its attempts',
    params: UuidParams,
    result: Delivery,
    run: ({ tx, by }: By, { params }) => findDelivery(tx, by, params.id),
  }),
  replay: defineAction({
    name: 'replayDelivery',
    rule: { resource: 'delivery', action: 'replay' },
    tag,
    summary: 'Send a delivery again, with a new series of attempts',
    description: `Sends the same event with the same id, whatever its status. A second request before the first attempt changes nothing. ${idle} (409).`,
    params: UuidParams,
    body: NoBody,
    result: Delivery,
    status: 202,
    problems: ['conflict', 'quota-exceeded'],
    once: true,
    refusals,
    location: ({ id }: { id: string }) => `/deliveries/${id}`,
    run: ({ tx, by, now }: By, { params }) => replayDelivery(tx, by, params.id, now),
  }),
}

/** The operations on replays, which send many deliveries again. */
export function replayActions(queue: PgBoss) {
  return {
    create: defineAction({
      name: 'replayDeliveries',
      rule: { resource: 'delivery', action: 'replay' },
      tag,
      summary: 'Send many deliveries again: those of a time range that match, or selected ones',
      description: `Deliveries created at or after \`from\` and before \`to\`, at most ${maxRangeDays} days, that match the other filters; or those in \`deliveryIds\`. GET /webhook-endpoints/:id/deliveries/count says how many match. \`Location\` is the replay; without such deliveries it is finished at once. ${idle} (409). ${tooManyHint} (429).`,
      params: UuidParams,
      body: Selection,
      result: Replay,
      status: 202,
      problems: ['conflict', 'quota-exceeded'],
      once: true,
      refusals,
      location: ({ endpointId, id }: Static<typeof Replay>) =>
        `/webhook-endpoints/${endpointId}/replays/${id}`,
      async run({ tx, by, now }: By, { params, body }) {
        const replay = await createReplay(tx, queue, by, params.id, readSelection(body), now)
        if (replay !== 'too-many') return replay
        const detail = `${tooManyHint}. Wait until one is finished.`
        throw new Problem('too-many-requests', {
          detail,
          retryAfterSeconds,
          reason: 'open-replays',
        })
      },
    }),
    get: defineAction({
      name: 'getDeliveryReplay',
      rule: { resource: 'delivery', action: 'read' },
      tag,
      summary: 'Read the progress of a replay',
      params: ReplayParams,
      result: Replay,
      run: ({ tx, by }: By, { params }) =>
        findReplay(tx, by, { endpointId: params.id, id: params.replayId }),
    }),
    cancel: defineAction({
      name: 'cancelDeliveryReplay',
      rule: { resource: 'delivery', action: 'replay' },
      tag,
      summary: 'Cancel a replay in progress',
      description:
        'Deliveries that were started already are sent; the rest is not. A finished replay stays as it is.',
      params: ReplayParams,
      body: NoBody,
      result: Replay,
      once: true,
      run: ({ tx, by, now }: By, { params }) =>
        cancelReplay(tx, by, { endpointId: params.id, id: params.replayId }, now),
    }),
  }
}

const SentEvent = Type.Object(
  {
    id: Type.String({ description: 'The same as in the delivery' }),
    type: Type.String({ description: 'What has happened' }),
    createdAt: means(Time, 'When it happened, in UTC'),
    data: Type.Unknown({ description: 'What it happened to, as the type says' }),
  },
  { title: 'Event' },
)

const { limit, cursor } = PageQuery.properties
/** The query of `listEvents`. */
export const FeedQuery = Type.Object(
  { limit, after: cursor, ...CreatedRange, type: Type.Optional(EventTypeName) },
  { additionalProperties: false },
)

/** All events of a tenant, for a receiver that has missed deliveries. */
export const listEvents = defineAction({
  name: 'listEvents',
  rule: { resource: 'event', action: 'read' },
  tag: 'events',
  summary: 'List the events of your tenant in order, after a cursor',
  description:
    'Every event as it is sent, with the same id, whether an endpoint has chosen its type or not. `nextCursor` points after the last event of the page: store it and pass it as `after`, now or later. It is null if there are no new events; your last cursor stays valid. An event appears once all transactions that began before it have ended, so that none is skipped. Events are kept for 90 days, without an endpoint for 30 days, unless the operator has set other limits.',
  query: FeedQuery,
  result: PageOf(
    SentEvent,
    'Store it, and give it as `after` later; null if there are no new events',
  ),
  run({ tx, by }: By, { query: { after, ...query } }) {
    const asked = after === undefined ? query : { ...query, cursor: after }
    const { page, filter } = readList(asked, eventFeed)
    return readFeed(tx, by, page, filter)
  },
})

function readSelection({
  deliveryIds,
  from,
  to,
  ...rest
}: Static<typeof Selection>): ReplaySelection {
  if (deliveryIds !== undefined) {
    const others = [from, to, ...Object.values(rest)].filter((value) => value !== undefined)
    if (others.length === 0) return { ids: deliveryIds }
    throw new Problem('malformed', { detail: '`deliveryIds` stands alone.' })
  }
  if (from === undefined || to === undefined) {
    throw new Problem('malformed', { detail: 'Either `from` and `to` or `deliveryIds` is needed.' })
  }
  const range = { from: new Date(from), to: new Date(to) }
  if (isReplayRange(range.from, range.to)) return { ...range, ...rest }
  const detail = `\`to\` must be after \`from\`, by at most ${maxRangeDays} days.`
  throw new Problem('malformed', { detail })
}
