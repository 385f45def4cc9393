import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { found } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { Nullable, problems, Time, Uuid, UuidParams } from '#src/http/schemas.ts'
import {
  createReplay,
  findReplay,
  isReplayRange,
  maxRangeDays,
  type ReplayRange,
} from '#src/webhooks/delivery/replays.ts'
import { DeliveryStatusName, disabledHint } from '#src/webhooks/endpoints/schemas.ts'

const Replay = Type.Object({
  id: Uuid,
  endpointId: Uuid,
  from: Time,
  to: Time,
  status: Nullable(DeliveryStatusName),
  total: Type.Integer({ description: 'Deliveries selected when it was asked for' }),
  done: Type.Integer({ description: 'Deliveries put on their way so far' }),
  createdAt: Time,
  finishedAt: Nullable(Time),
})

const Range = Type.Object(
  { from: Time, to: Time, status: Type.Optional(DeliveryStatusName) },
  { additionalProperties: false },
)

const ReplayParams = Type.Object({ id: Uuid, replayId: Uuid }, { additionalProperties: false })
const tags = ['webhook deliveries']

/** Sending a range of deliveries again. */
const endpointReplays: FastifyPluginAsyncTypebox = async function endpointReplays(app) {
  app.post(
    '/webhook-endpoints/:id/replay',
    {
      config: { access: { resource: 'delivery', action: 'replay' } },
      schema: {
        tags,
        summary: 'Send the deliveries of a range of time again',
        description: `Deliveries created at or after \`from\` and before \`to\`, at most ${maxRangeDays} days; without \`status\` in every state. The answer tells where to follow it. ${disabledHint} (409).`,
        params: UuidParams,
        body: Range,
        response: { 202: Replay, ...problems(400, 401, 403, 404, 409, 429, 503) },
      },
    },
    async (request, reply) => {
      const { params, body, actor: by } = request
      const range = readRange(body)
      const now = app.clock.now()
      const replay = found(
        await app.db.write(by, (tx) => createReplay(tx, app.queue, by, params.id, range, now)),
      )
      if (replay === 'disabled') throw new Problem('conflict', { detail: disabledHint })
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
        tags,
        summary: 'How far a replay has come',
        params: ReplayParams,
        response: { 200: Replay, ...problems(400, 401, 403, 404, 429, 503) },
      },
    },
    async (request) => {
      const scope = request.tenantScope
      const { id: endpointId, replayId: id } = request.params
      return found(await app.db.read(scope, (tx) => findReplay(tx, scope, { endpointId, id })))
    },
  )
}

/** The schema's format lets a leap second through, which no Date can say. */
function readRange(body: Type.Static<typeof Range>): ReplayRange {
  const [from, to] = [new Date(body.from), new Date(body.to)]
  if (isReplayRange(from, to)) return { from, to, status: body.status ?? null }
  const detail = `\`to\` must be after \`from\`, by at most ${maxRangeDays} days.`
  throw new Problem('malformed', { detail })
}

export default endpointReplays
