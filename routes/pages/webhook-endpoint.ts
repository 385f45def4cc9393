import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { readPage } from '#src/http/pagination.ts'
import { found } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { Uuid, UuidParams } from '#src/http/schemas.ts'
import { type EndpointView, endpointPage } from '#src/pages/webhooks/endpoint.ts'
import { overlapSentence, type WebhookNotice } from '#src/pages/webhooks/endpoints.ts'
import { EndpointFields, RangeFields, readFields, readRange } from '#src/pages/webhooks/forms.ts'
import {
  deliveryList,
  deliveryStatuses,
  findDelivery,
  listDeliveries,
} from '#src/webhooks/delivery/deliveries.ts'
import { createReplay } from '#src/webhooks/delivery/replays.ts'
import { sendTest } from '#src/webhooks/delivery/test-event.ts'
import {
  changeEndpoint,
  deleteEndpoint,
  enableEndpoint,
  findEndpoint,
  rotateSecret,
} from '#src/webhooks/endpoints/endpoints.ts'
import { measureEndpoints } from '#src/webhooks/endpoints/stats.ts'
import { eventTypes } from '#src/webhooks/events/types.ts'

const shownDeliveries = '20'

// A filter left open is an empty field.
const Query = Type.Object(
  {
    done: Type.Optional(Type.String({ maxLength: 64 })),
    test: Type.Optional(Uuid),
    status: Type.Optional(Type.Enum(['', ...deliveryStatuses])),
    eventType: Type.Optional(Type.Enum(['', ...eventTypes])),
    cursor: Type.Optional(Type.String({ maxLength: 2_000 })),
  },
  { additionalProperties: false },
)
const RotateForm = Type.Object(
  { overlapSeconds: Type.Enum(['0', '3600', '86400', '604800']) },
  { additionalProperties: false },
)
const RemoveForm = Type.Object({ confirm: Type.Literal('yes') }, { additionalProperties: false })

const update = { resource: 'webhook-endpoint', action: 'update' } as const
const path = '/app/webhooks/:id'

/** One webhook endpoint as a page, and what its buttons do. */
const webhookEndpoint: FastifyPluginAsyncTypebox<{ keys: EncryptionKeys }> =
  async function webhookEndpoint(app, { keys }) {
    const hidden = { hide: true, params: UuidParams } as const

    app.get(
      path,
      {
        config: { access: { resource: 'webhook-endpoint', action: 'read' } },
        schema: { ...hidden, querystring: Query },
      },
      async (request, reply) => show(request, reply, request.params.id, { query: request.query }),
    )

    app.post(
      path,
      { config: { access: update }, schema: { ...hidden, body: EndpointFields } },
      async (request, reply) => {
        const { params, body, actor: by } = request
        const facts = readFields(body)
        // Foreign and missing are a 404 before the URL is looked at, whatever it is.
        found(await app.db.read(by, (tx) => findEndpoint(tx, by, params.id)))
        const judged = await app.judgeCustomerUrl(facts.url, request.log)
        if ('fault' in judged) {
          const draft = { ...facts, urlFault: judged.fault }
          return show(request, reply.code(400), params.id, { draft })
        }
        const change = { ...facts, url: judged.url }
        const now = app.clock.now()
        found(await app.db.write(by, (tx) => changeEndpoint(tx, by, params.id, change, now)))
        return done(reply, params.id, 'changed')
      },
    )

    app.post(
      `${path}/test`,
      { config: { access: update }, schema: hidden },
      async (request, reply) => {
        const { params, actor: by } = request
        const { db, sender, clock } = app
        const delivery = found(await sendTest(db, { sender, keys, clock }, by, params.id))
        return done(reply, params.id, 'tested', { test: delivery.id })
      },
    )

    app.post(
      `${path}/rotate`,
      { config: { access: update }, schema: { ...hidden, body: RotateForm } },
      async (request, reply) => {
        const { params, body, actor: by } = request
        const rotation = { keys, now: app.clock.now(), overlap: Number(body.overlapSeconds) }
        const { id, url, secret, previousSecretExpiresAt } = found(
          await app.db.write(by, (tx) => rotateSecret(tx, by, params.id, rotation)),
        )
        const note = overlapSentence(previousSecretExpiresAt)
        return show(request, reply, id, { newSecret: { endpointId: id, url, secret, note } })
      },
    )

    app.post(
      `${path}/enable`,
      { config: { access: update }, schema: hidden },
      async (request, reply) => {
        const { params, actor: by } = request
        const now = app.clock.now()
        found(await app.db.write(by, (tx) => enableEndpoint(tx, by, params.id, now)))
        return done(reply, params.id, 'enabled')
      },
    )

    app.post(
      `${path}/remove`,
      {
        config: { access: { resource: 'webhook-endpoint', action: 'delete' } },
        schema: { ...hidden, body: RemoveForm },
      },
      async (request, reply) => {
        const { params, actor: by } = request
        const deleted = await app.db.write(by, (tx) => deleteEndpoint(tx, by, params.id))
        if (!deleted) throw new Problem('not-found')
        return reply.redirect('/app/webhooks?done=removed', 303)
      },
    )

    app.post(
      `${path}/replay`,
      {
        config: { access: { resource: 'delivery', action: 'replay' } },
        schema: { ...hidden, body: RangeFields },
      },
      async (request, reply) => {
        const { params, body, actor: by } = request
        const now = app.clock.now()
        const range = readRange(body, now)
        if ('fault' in range) {
          const { from, to } = body
          return show(request, reply.code(400), params.id, { replay: { from, to, ...range } })
        }
        const replay = found(
          await app.db.write(by, (tx) => createReplay(tx, app.queue, by, params.id, range, now)),
        )
        if (replay === 'disabled') {
          const fault = 'The endpoint is disabled, so nothing was sent again. Enable it first.'
          return show(request, reply.code(409), params.id, { fault })
        }
        return reply.redirect(`/app/webhooks/${params.id}/replays/${replay.id}`, 303)
      },
    )

    type Shown = Partial<Pick<EndpointView, 'draft' | 'replay' | 'fault' | 'newSecret'>> & {
      query?: Type.Static<typeof Query>
    }

    /** One transaction for all that the page shows. */
    async function show(
      request: FastifyRequest,
      reply: FastifyReply,
      id: string,
      { query = {}, draft, replay = emptyRange, fault = null, newSecret = null }: Shown,
    ) {
      const { viewer, tenantScope: scope } = request
      const { done, test, status = '', eventType = '', cursor } = query
      const now = app.clock.now()
      const part = { limit: shownDeliveries, ...(cursor !== undefined && { cursor }) }
      const page = readPage(part, deliveryList.name, deliveryList.forms)
      const filter = { status: status || undefined, eventType: eventType || undefined }
      const seen = await app.db.read(scope, async (tx) => ({
        endpoint: found(await findEndpoint(tx, scope, id)),
        stats: (await measureEndpoints(tx, scope, now, id)).get(id),
        deliveries: found(await listDeliveries(tx, scope, id, filter, page)),
        test: test === undefined ? null : await findDelivery(tx, scope, test),
      }))
      const deliveries = {
        ...seen.deliveries,
        filter: { status, eventType },
        isLater: cursor !== undefined,
      }
      return reply.sendPage(
        endpointPage({
          viewer,
          ...seen,
          test: seen.test?.endpointId === id ? seen.test : null,
          deliveries,
          draft: draft ?? { ...seen.endpoint, urlFault: null },
          replay,
          done,
          fault,
          newSecret,
        }),
      )
    }
  }

const emptyRange = { from: '', to: '', fault: null }

/** The page again, by GET, so that reloading it does nothing twice. */
function done(
  reply: FastifyReply,
  id: string,
  notice: WebhookNotice,
  further: Record<string, string> = {},
) {
  const query = new URLSearchParams({ done: notice, ...further })
  return reply.redirect(`/app/webhooks/${id}?${query}`, 303)
}

export default webhookEndpoint
