import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { found } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { Nullable, problems, Time, Uuid, UuidParams } from '#src/http/schemas.ts'
import {
  createReplay,
  findReplay,
  isReplayRange,
  maxOpenReplays,
  maxRangeDays,
  type ReplayRange,
} from '#src/webhooks/delivery/replays.ts'
import { DeliveryStatusName, disabledHint } from '#src/webhooks/endpoints/schemas.ts'

const Replay = Type.Object(
  {
    id: Uuid,
    endpointId: Uuid,
    from: Time,
    to: Time,
    status: Nullable(DeliveryStatusName),
    total: Type.Integer({ description: 'Deliveries selected by the request' }),
    done: Type.Integer({ description: 'Deliveries started so far' }),
    createdAt: Time,
    finishedAt: Nullable(Time),
  },
  { title: 'EndpointReplay' },
)

const Range = Type.Object(
  { from: Time, to: Time, status: Type.Optional(DeliveryStatusName) },
  { title: 'NewEndpointReplay', additionalProperties: false },
)

const tooManyHint = `At most ${maxOpenReplays.perEndpoint} replays of an endpoint and ${maxOpenReplays.perTenant} of a tenant are open at once`
const retryAfterSeconds = 30

const ReplayParams = Type.Object({ id: Uuid, replayId: Uuid }, { additionalProperties: false })
const tags = ['webhook deliveries']

/** Sending the deliveries of a time range again. */
const endpointReplays: FastifyPluginAsyncTypebox = async function endpointReplays(app) {
  app.post(
    '/webhook-endpoints/:id/replay',
    {
      config: { idempotencyKey: true, access: { resource: 'delivery', action: 'replay' } },
      schema: {
        operationId: 'replayDeliveries',
        tags,
        summary: 'Send the deliveries of a time range again',
        description: `Deliveries created at or after \`from\` and before \`to\`, at most ${maxRangeDays} days; without \`status\` those of every status. \`Location\` is the replay; without such deliveries it is finished at once. ${disabledHint} (409). ${tooManyHint} (429).`,
        params: UuidParams,
        body: Range,
        response: {
          202: Replay,
          ...problems(400, 401, 403, 404, 'conflict', 'quota-exceeded', 429, 503),
        },
      },
    },
    postReplay,
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
        response: { 200: Replay, ...problems(400, 401, 403, 404, 429, 503) },
      },
    },
    readReplay,
  )
}

async function postReplay(
  this: FastifyInstance,
  request: FastifyRequest<{ Params: Static<typeof UuidParams>; Body: Static<typeof Range> }>,
  reply: FastifyReply,
) {
  const { params, body, clientInfo } = request
  const range = readRange(body)
  const now = this.clock.now()
  const replay = found(
    await this.db.write(request.tenantEntry, (tx, caller) =>
      createReplay(tx, this.queue, { ...caller, clientInfo }, params.id, range, now),
    ),
  )
  if (replay === 'disabled') throw new Problem('conflict', { detail: disabledHint })
  if (replay === 'too-many') {
    const detail = `${tooManyHint}. Wait until one is finished.`
    throw new Problem('too-many-requests', { detail, retryAfterSeconds, reason: 'open-replays' })
  }
  return reply
    .code(202)
    .header('location', `/webhook-endpoints/${replay.endpointId}/replays/${replay.id}`)
    .send(replay)
}

async function readReplay(
  this: FastifyInstance,
  request: FastifyRequest<{ Params: Static<typeof ReplayParams> }>,
) {
  const { id: endpointId, replayId: id } = request.params
  return found(
    await this.db.read(request.tenantEntry, (tx, caller) =>
      findReplay(tx, caller, { endpointId, id }),
    ),
  )
}

function readRange(body: Type.Static<typeof Range>): ReplayRange {
  const [from, to] = [new Date(body.from), new Date(body.to)]
  if (isReplayRange(from, to)) return { from, to, status: body.status ?? null }
  const detail = `\`to\` must be after \`from\`, by at most ${maxRangeDays} days.`
  throw new Problem('malformed', { detail })
}

export default endpointReplays
