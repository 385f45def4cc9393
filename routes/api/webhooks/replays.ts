import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import { found } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { NoBody, Nullable, problems, Time, Uuid, UuidParams } from '#src/http/schemas.ts'
import { disabledHint, EventTypeName } from '#src/webhooks/endpoints/schemas.ts'
import {
  cancelReplay,
  createReplay,
  findReplay,
  isReplayRange,
  maxOpenReplays,
  maxRangeDays,
  maxSelected,
  type ReplaySelection,
} from '#src/webhooks/history/replays.ts'
import {
  DeliveryStatusName,
  EventIdFilter,
  HttpStatusFilter,
} from '#src/webhooks/history/schemas.ts'

const Replay = Type.Object(
  {
    id: Uuid,
    endpointId: Uuid,
    from: Time,
    to: Time,
    status: Nullable(DeliveryStatusName),
    eventType: Nullable(EventTypeName),
    eventId: Nullable(Type.String()),
    httpStatus: Nullable(Type.String()),
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
    createdAt: Time,
    finishedAt: Nullable(Time),
    cancelledAt: Nullable(
      Type.String({
        ...Time,
        description: 'Deliveries that were not started by then are not sent',
      }),
    ),
  },
  { title: 'EndpointReplay' },
)

const Selection = Type.Object(
  {
    from: Type.Optional(Time),
    to: Type.Optional(Time),
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

const ReplayParams = Type.Object({ id: Uuid, replayId: Uuid }, { additionalProperties: false })
const tags = ['webhook deliveries']

/** Sending many deliveries again. */
const endpointReplays: FastifyPluginAsyncTypebox = async function endpointReplays(app) {
  app.post(
    '/webhook-endpoints/:id/replay',
    {
      config: { idempotencyKey: true, access: { resource: 'delivery', action: 'replay' } },
      schema: {
        operationId: 'replayDeliveries',
        tags,
        summary: 'Send many deliveries again: those of a time range that match, or selected ones',
        description: `Deliveries created at or after \`from\` and before \`to\`, at most ${maxRangeDays} days, that match the other filters; or those in \`deliveryIds\`. GET /webhook-endpoints/:id/deliveries/count says how many match. \`Location\` is the replay; without such deliveries it is finished at once. ${disabledHint} (409). ${tooManyHint} (429).`,
        params: UuidParams,
        body: Selection,
        response: { 202: Replay, ...problems('conflict', 'quota-exceeded') },
      },
    },
    async (request, reply) => {
      const { params, body, clientInfo } = request
      const selection = readSelection(body)
      const now = app.clock.now()
      const replay = found(
        await app.db.write(request.tenantPrincipalEntry, (tx, caller) =>
          createReplay(tx, app.queue, { ...caller, clientInfo }, params.id, selection, now),
        ),
      )
      if (replay === 'disabled') throw new Problem('conflict', { detail: disabledHint })
      if (replay === 'too-many') {
        const detail = `${tooManyHint}. Wait until one is finished.`
        throw new Problem('too-many-requests', {
          detail,
          retryAfterSeconds,
          reason: 'open-replays',
        })
      }
      return reply
        .code(202)
        .header('location', `/webhook-endpoints/${replay.endpointId}/replays/${replay.id}`)
        .send(replay)
    },
  )

  app.get(
    '/webhook-endpoints/:id/replays/:replayId',
    {
      config: { access: { resource: 'delivery', action: 'read' } },
      schema: {
        operationId: 'getDeliveryReplay',
        tags,
        summary: 'Read the progress of a replay',
        params: ReplayParams,
        response: { 200: Replay },
      },
    },
    async (request) => {
      const { id: endpointId, replayId: id } = request.params
      return found(
        await app.db.read(request.tenantPrincipalEntry, (tx, caller) =>
          findReplay(tx, caller, { endpointId, id }),
        ),
      )
    },
  )

  app.post(
    '/webhook-endpoints/:id/replays/:replayId/cancel',
    {
      config: { idempotencyKey: true, access: { resource: 'delivery', action: 'replay' } },
      schema: {
        operationId: 'cancelDeliveryReplay',
        tags,
        summary: 'Cancel a replay in progress',
        description:
          'Deliveries that were started already are sent; the rest is not. A finished replay stays as it is.',
        params: ReplayParams,
        body: NoBody,
        response: { 200: Replay },
      },
    },
    async (request) => {
      const { params, clientInfo, tenantPrincipalEntry } = request
      const replay = { endpointId: params.id, id: params.replayId }
      const now = app.clock.now()
      return found(
        await app.db.write(tenantPrincipalEntry, (tx, caller) =>
          cancelReplay(tx, { ...caller, clientInfo }, replay, now),
        ),
      )
    },
  )
}

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

export default endpointReplays
