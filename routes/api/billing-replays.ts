import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { EventParams, findReceived, Status } from '#src/billing/events.ts'
import { createReplay, findReplay } from '#src/billing/replays.ts'
import { found } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { Nullable, problems, Time, Uuid } from '#src/http/schemas.ts'

const Replay = Type.Object({
  id: Uuid,
  total: Type.Integer({ description: 'Events selected when it was asked for' }),
  succeeded: Type.Integer(),
  failed: Type.Integer({ description: 'Events that failed again; each says why' }),
  createdAt: Time,
  finishedAt: Nullable(Time),
})

const Selection = Type.Object(
  {
    status: Status,
    from: Type.Optional(Time),
    to: Type.Optional(Time),
  },
  { additionalProperties: false },
)

const replay = { resource: 'billing-event', action: 'replay' } as const
const explained =
  'For operators. Each event is run once more, in order of arrival; effects are keyed by the event, so one that was worked on has none twice. The answer is the replay; GET /billing/replays/:id tells how far it has come.'

/** Running received events again, one or many. */
const billingReplays: FastifyPluginAsyncTypebox = async function billingReplays(app) {
  app.post(
    '/billing/events/:id/replay',
    {
      config: { access: replay },
      schema: {
        tags: ['billing events'],
        summary: 'Run a received billing event again',
        description: `${explained} 409 when its body is no longer kept.`,
        params: EventParams,
        response: { 202: Replay, ...problems(400, 401, 403, 404, 409, 429, 503) },
      },
    },
    async (request, reply) => {
      const { id } = request.params
      const { body } = found(await findReceived(app.systemDb, id))
      if (body === null) throw new Problem('conflict', { detail: 'Its body is no longer kept.' })
      return reply.code(202).send(await createReplay(app.systemDb, app.queue, { ids: [id] }))
    },
  )

  app.post(
    '/billing/events/replay',
    {
      config: { access: replay },
      schema: {
        tags: ['billing events'],
        summary: 'Run many received billing events again',
        description: explained,
        body: Selection,
        response: { 202: Replay, ...problems(400, 401, 403, 429, 503) },
      },
    },
    async (request, reply) =>
      reply.code(202).send(await createReplay(app.systemDb, app.queue, request.body)),
  )

  app.get(
    '/billing/replays/:id',
    {
      config: { access: replay },
      schema: {
        tags: ['billing events'],
        summary: 'How far a replay has come',
        params: Type.Object({ id: Uuid }, { additionalProperties: false }),
        response: { 200: Replay, ...problems(400, 401, 403, 404, 429, 503) },
      },
    },
    async (request) => found(await findReplay(app.systemDb, request.params.id)),
  )
}

export default billingReplays
