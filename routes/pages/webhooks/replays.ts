import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import type { TenantScope } from '#src/access/caller.ts'
import type { Tx } from '#src/db/database.ts'
import { found } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { Uuid, UuidParams } from '#src/http/schemas.ts'
import { progressOf, rangeFields, readRange, replayPage } from '#src/pages/webhooks/forms.ts'
import {
  ConfirmedFields,
  filterFields,
  rangePage,
  readConfirmed,
  reviewPage,
  selectedField,
  selectionOf,
} from '#src/pages/webhooks/review.ts'
import { findEndpoint } from '#src/webhooks/endpoints/endpoints.ts'
import { replayActions } from '#src/webhooks/history/actions.ts'
import { countDeliveries, type DeliveryTotal } from '#src/webhooks/history/deliveries.ts'
import { findReplayOutcome } from '#src/webhooks/history/replay-outcome.ts'
import { createReplay, findReplay, type ReplaySelection } from '#src/webhooks/history/replays.ts'

const Params = Type.Object({ id: Uuid, replayId: Uuid }, { additionalProperties: false })

const Query = Type.Object(
  {
    ...filterFields,
    ...rangeFields,
    ...selectedField,
    /** The button for the selected rows; without it, all that match. */
    rows: Type.Optional(Type.Literal('selected')),
  },
  { additionalProperties: false },
)

type ReplayRequest = FastifyRequest<{ Params: Static<typeof Params> }>
type EndpointParams = Static<typeof UuidParams>

const config = { access: { resource: 'delivery', action: 'read' } } as const
const replay = { access: { resource: 'delivery', action: 'replay' } } as const
const schema = { hide: true, params: Params }
const path = '/webhooks/:id/replays'

/** Replays: their confirmation, their progress as a page and as an event stream, and their end. */
const webhookReplays: FastifyPluginAsyncTypebox = async function webhookReplays(app) {
  // Counts the deliveries that a replay would send, and sends none.
  app.get(
    `${path}/new`,
    { config: replay, schema: { hide: true, params: UuidParams, querystring: Query } },
    async (request, reply) => {
      const { params, query, tenantPrincipalEntry } = request
      const selection = readSelection(query, app.clock.now())
      if (!('fault' in selection)) return sendReview(request, reply, selection)
      const { from = '', to = '' } = query
      const endpoint = found(
        await app.db.read(tenantPrincipalEntry, (tx, caller) =>
          findEndpoint(tx, caller, params.id),
        ),
      )
      const draft = { from, to, fault: selection.fault }
      return reply.code(400).sendPage(rangePage(request.viewer, endpoint, draft))
    },
  )
  app.post(
    path,
    { config: replay, schema: { hide: true, params: UuidParams, body: ConfirmedFields } },
    async (request, reply) => {
      const { params, body, tenantPrincipalEntry, clientInfo } = request
      const now = app.clock.now()
      const selection = readConfirmed(body)
      if (selection === null) throw new Problem('malformed')
      let refused: 'disabled' | 'paused' | 'too-many' | null = null
      const location = await app.db.write(tenantPrincipalEntry, (tx, caller) =>
        request.submitOnce(tx, caller, async () => {
          const by = { ...caller, clientInfo }
          const replay = found(await createReplay(tx, app.queue, by, params.id, selection, now))
          if (typeof replay !== 'string') {
            return { path: `${app.prefix}/webhooks/${params.id}/replays/${replay.id}` }
          }
          refused = replay
          return null
        }),
      )
      if (location !== null) return reply.redirect(location, 303)
      if (refused === 'too-many') {
        const fault =
          'Too many replays are in progress, so nothing was replayed. Wait until one is finished.'
        return sendReview(request, reply.code(429).header('retry-after', 30), selection, fault)
      }
      const way = refused === 'paused' ? 'Resume' : 'Enable'
      const fault = `The endpoint is ${refused}, so nothing was replayed. ${way} the endpoint first.`
      return sendReview(request, reply.code(409), selection, fault)
    },
  )
  addProgress(app)
}

/** A replay that was made: its progress, and its end. */
function addProgress(app: Parameters<FastifyPluginAsyncTypebox>[0]): void {
  app.get(`${path}/:replayId`, { config, schema }, async (request, reply) => {
    const [replay, outcome] = await app.db.read(
      request.tenantPrincipalEntry,
      async (tx, caller) => {
        const replay = await findReplayOf(request, tx, caller)
        const isRunning = replay.finishedAt === null
        return [replay, isRunning ? null : await findReplayOutcome(tx, caller, replay)] as const
      },
    )
    return reply.sendLivePage(replayPage(request.viewer, replay, outcome))
  })
  // Every read enters again, so the stream ends with the session or the right to see the replay.
  app.get(
    `${path}/:replayId/events`,
    { config, schema, exposeHeadRoute: false },
    async (request, reply) => {
      const { tenantId } = await readReplay(request)
      return reply.streamEvents(tenantId, async () => {
        const data = progressOf((await readReplay(request)).replay)
        return { name: 'progress', data, isLast: data.isLast }
      })
    },
  )
  app.form(`${path}/:replayId/cancel`, replayActions(app.queue).cancel, {
    entryOf: ({ tenantPrincipalEntry }: FastifyRequest) => tenantPrincipalEntry,
    to: '/webhooks/:endpointId/replays/:id',
  })
}

async function sendReview(
  request: FastifyRequest<{ Params: EndpointParams }>,
  reply: FastifyReply,
  selection: ReplaySelection,
  fault: string | null = null,
) {
  const { server, params, tenantPrincipalEntry } = request
  const { endpoint, total } = await server.db.read(tenantPrincipalEntry, async (tx, caller) => {
    const [endpoint, total] = await Promise.all([
      findEndpoint(tx, caller, params.id),
      countSelection(tx, caller, params.id, selection),
    ])
    return { endpoint: found(endpoint), total }
  })
  return reply.sendPage(reviewPage({ viewer: request.viewer, endpoint, selection, total, fault }))
}

function readSelection(
  query: Static<typeof Query>,
  now: Date,
): ReplaySelection | { fault: string } {
  const { ids, ...filters } = selectionOf(query)
  if (query.rows === 'selected') return { ids: [query.delivery ?? []].flat() }
  if (ids !== undefined) return { ids }
  const range = readRange(query, now)
  return 'fault' in range ? range : { ...filters, ...range }
}

/** Missing deliveries and those of other tenants and endpoints are not counted. */
function countSelection(
  tx: Tx,
  scope: TenantScope,
  endpointId: string,
  selection: ReplaySelection,
): Promise<DeliveryTotal> {
  if ('ids' in selection) return countDeliveries(tx, scope, endpointId, selection)
  const { from, to, status, ...filters } = selection
  return countDeliveries(tx, scope, endpointId, {
    ...filters,
    status: status ?? undefined,
    from: from.toISOString(),
    to: to.toISOString(),
  })
}

function readReplay(request: ReplayRequest) {
  return request.server.db.read(request.tenantPrincipalEntry, async (tx, caller) => ({
    replay: await findReplayOf(request, tx, caller),
    tenantId: caller.tenantId,
  }))
}

async function findReplayOf({ params }: ReplayRequest, tx: Tx, scope: TenantScope) {
  const { id: endpointId, replayId: id } = params
  return found(await findReplay(tx, scope, { endpointId, id }))
}

export default webhookReplays
