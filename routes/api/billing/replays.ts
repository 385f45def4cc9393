import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { EventParams, findReceived, Status } from '#src/billing/events.ts'
import { createReplay, findReplay } from '#src/billing/replays.ts'
import { found } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { Nullable, problems, Time, Uuid, UuidParams } from '#src/http/schemas.ts'

const Replay = Type.Object(
  {
    id: Uuid,
    total: Type.Integer({ description: 'Events selected by the request' }),
    succeeded: Type.Integer(),
    failed: Type.Integer({ description: 'Events that failed again; each has its `lastError`' }),
    createdAt: Time,
    finishedAt: Nullable(Time),
  },
  { title: 'BillingReplay' },
)

const Selection = Type.Object(
  {
    status: Status,
    from: Type.Optional(Time),
    to: Type.Optional(Time),
  },
  { title: 'NewBillingReplay', additionalProperties: false },
)

const replay = { resource: 'billing-event', action: 'replay' } as const
const explanation =
  'For operators. Processes each event again, in order of arrival. Effects are keyed by the event, so none happens twice. Returns the replay; GET /billing/replays/:id returns its progress.'

/** Processing received events again, one or many. */
const billingReplays: FastifyPluginAsyncTypebox = async function billingReplays(app) {
  app.post(
    '/billing/events/:id/replay',
    {
      config: { idempotencyKey: true, access: replay },
      schema: {
        operationId: 'replayBillingEvent',
        tags: ['billing events'],
        summary: 'Process a received billing event again',
        description: `${explanation} 409 if its body has been deleted.`,
        params: EventParams,
        response: { 202: Replay, ...problems('conflict') },
      },
    },
    async (request, reply) => {
      const { id } = request.params
      const created = await app.db.write(request.entry, async (tx) => {
        const { body } = found(await findReceived(tx, id))
        if (body === null) throw new Problem('conflict', { detail: 'Its body has been deleted.' })
        return createReplay(tx, app.queue, { ids: [id] })
      })
      return reply.code(202).header('location', `/billing/replays/${created.id}`).send(created)
    },
  )

  app.post(
    '/billing/events/replay',
    {
      config: { idempotencyKey: true, access: replay },
      schema: {
        operationId: 'replayBillingEvents',
        tags: ['billing events'],
        summary: 'Process many received billing events again',
        description: explanation,
        body: Selection,
        response: { 202: Replay },
      },
    },
    async (request, reply) => {
      const created = await app.db.write(request.entry, (tx) =>
        createReplay(tx, app.queue, request.body),
      )
      return reply.code(202).header('location', `/billing/replays/${created.id}`).send(created)
    },
  )

  app.get(
    '/billing/replays/:id',
    {
      config: { access: replay },
      schema: {
        operationId: 'getBillingReplay',
        tags: ['billing events'],
        summary: 'Read the progress of a replay',
        params: UuidParams,
        response: { 200: Replay },
      },
    },
    async (request) =>
      found(await app.db.read(request.entry, (tx) => findReplay(tx, request.params.id))),
  )
}

export default billingReplays
