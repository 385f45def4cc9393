import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { readPage } from '#src/http/lists/pagination.ts'
import { found } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { Uuid, UuidParams } from '#src/http/schemas.ts'
import { confirmedField } from '#src/pages/kit/components.ts'
import {
  SubmissionForm,
  shownQuery,
  submissionFields,
  takeSecret,
} from '#src/pages/kit/form-submission.ts'
import { doneQuery } from '#src/pages/kit/layout.ts'
import { changedRows, sinceMs } from '#src/pages/webhooks/delivery.ts'
import {
  type EndpointView,
  endpointPage,
  rotateForm,
  testForm,
} from '#src/pages/webhooks/endpoint.ts'
import type { WebhookNotice } from '#src/pages/webhooks/endpoints.ts'
import { endpointForm, readFields } from '#src/pages/webhooks/forms.ts'
import { filterFields, readFilters } from '#src/pages/webhooks/review.ts'
import {
  changeEndpoint,
  deleteEndpoint,
  enableEndpoint,
  endpointRefusals,
  findEndpoint,
  rotateSecret,
} from '#src/webhooks/endpoints/endpoints.ts'
import { listAppTypeNames } from '#src/webhooks/events/app-types.ts'
import { deliveryList, findDelivery, listDeliveries } from '#src/webhooks/history/deliveries.ts'
import { measureEndpoints } from '#src/webhooks/history/stats.ts'
import { findProbe, probeEndpoint } from '#src/webhooks/probe/probe.ts'
import { sendTest, testType } from '#src/webhooks/probe/test-event.ts'

const pageSize = '20'

// A form also sends its empty fields; an empty field is no filter.
const listFields = {
  ...filterFields,
  since: Type.Optional(Type.Enum(['', 'hour', 'day', 'week'])),
}
const ListQuery = Type.Object(listFields, { additionalProperties: false })
const Query = Type.Object(
  {
    ...doneQuery,
    test: Type.Optional(Uuid),
    ...listFields,
    cursor: Type.Optional(Type.String({ maxLength: 2_000 })),
    ...shownQuery,
  },
  { additionalProperties: false },
)
const RemoveForm = Type.Object(
  { ...submissionFields, ...confirmedField },
  { additionalProperties: false },
)

type Options = { keys: EncryptionKeys }
type EndpointRequest = FastifyRequest<{ Params: Static<typeof UuidParams> }>

const read = { access: { resource: 'webhook-endpoint', action: 'read' } } as const
const update = { access: { resource: 'webhook-endpoint', action: 'update' } } as const
const remove = { access: { resource: 'webhook-endpoint', action: 'delete' } } as const
const schema = { hide: true, params: UuidParams }
const path = '/app/webhooks/:id'

/** The page of one webhook endpoint and its forms. */
const webhookEndpoint: FastifyPluginAsyncTypebox<Options> = async function webhookEndpoint(
  app,
  { keys },
) {
  app.get(
    path,
    { config: read, schema: { ...schema, querystring: Query } },
    async (request, reply) => {
      const { tenantEntry, query } = request
      const newSecret = await takeSecret(app.db, tenantEntry, request, keys)
      return sendEndpoint(request, reply, { query, newSecret })
    },
  )
  // Sends the newest deliveries, then once per second the new and changed ones. Every read enters again,
  // so the stream ends with the session or the right to see them.
  app.get(
    `${path}/deliveries/events`,
    {
      config: { access: { resource: 'delivery', action: 'read' } },
      schema: { ...schema, querystring: ListQuery },
      exposeHeadRoute: false,
    },
    async (request, reply) => {
      const { server, params, query, tenantEntry } = request
      const page = readPage({ limit: pageSize }, deliveryList.name, deliveryList.forms)
      const read = () =>
        server.db.read(tenantEntry, async (tx, caller) => {
          const filter = filterOf(query, server.clock.now())
          const { data } = found(await listDeliveries(tx, caller, params.id, filter, page))
          return { data, userId: caller.userId }
        })
      const takeChanged = changedRows()
      const { userId } = await read()
      return reply.streamEvents(`deliveries of ${userId}`, async () => {
        const { data } = await read()
        // The stream of an empty list ends; the browser opens a new one after some seconds.
        return { name: 'rows', data: { markup: takeChanged(data) }, isLast: data.length === 0 }
      })
    },
  )
  app.post(
    path,
    { config: update, schema: { ...schema, body: endpointForm.schema } },
    async (request, reply) => {
      const { params, body, tenantEntry, clientInfo, log } = request
      const facts = readFields(body)
      // A foreign or missing endpoint is a 404 before its URL is checked.
      found(await app.db.read(tenantEntry, (tx, caller) => findEndpoint(tx, caller, params.id)))
      const checked = await app.judgeCustomerUrl(facts.url, log)
      if ('fault' in checked) {
        request.showAgain(body, { faults: [['url', checked.fault]] })
        return sendEndpoint(request, reply.code(400), {})
      }
      const change = { ...facts, url: checked.url }
      const now = app.clock.now()
      const changed = await app.db.write(tenantEntry, (tx, caller) =>
        changeEndpoint(tx, { ...caller, clientInfo }, params.id, change, now),
      )
      if (changed === 'url-taken') {
        request.showAgain(body, { faults: [['url', endpointRefusals[changed]]] })
        return sendEndpoint(request, reply.code(409), {})
      }
      found(changed)
      return redirect(reply, params.id, 'changed')
    },
  )
  app.post(
    `${path}/test`,
    { config: update, schema: { ...schema, body: testForm.schema } },
    async (request, reply) => {
      const { body, tenantEntry, clientInfo } = request
      const { db, queue, answers } = app
      const { id } = request.params
      const repeated = await countFirst(request, 'testing')
      if (repeated !== null) return reply.redirect(repeated, 303)
      const deps = { queue, answers, keys, clientInfo }
      const delivery = found(
        await sendTest(db, tenantEntry, { endpointId: id, type: body.type ?? testType }, deps),
      )
      return redirect(reply, id, 'tested', { test: delivery.id })
    },
  )
  app.post(
    `${path}/probe`,
    { config: update, schema: { ...schema, body: SubmissionForm } },
    async (request, reply) => {
      const { tenantEntry, clientInfo } = request
      const { db, queue, answers, clock } = app
      const { id } = request.params
      const repeated = await countFirst(request, 'probing')
      if (repeated !== null) return reply.redirect(repeated, 303)
      const deps = { queue, answers, keys, clock, clientInfo }
      const probed = found(await probeEndpoint(db, tenantEntry, id, deps))
      if ('report' in probed) return redirect(reply, id, 'probed')
      const seconds = (probed.wait.until.getTime() - clock.now().getTime()) / 1_000
      const fault = `The receiver was checked recently. It can be checked again after ${probed.wait.until.toISOString().slice(0, 16).replace('T', ' ')} UTC.`
      reply.code(429).header('retry-after', Math.ceil(seconds))
      return sendEndpoint(request, reply, { fault })
    },
  )
  app.post(
    `${path}/rotate`,
    { config: update, schema: { ...schema, body: rotateForm.schema } },
    async (request, reply) => {
      const { params, body, tenantEntry, clientInfo } = request
      const rotation = { keys, now: app.clock.now(), overlap: Number(body.overlapSeconds) }
      const location = await app.db.write(tenantEntry, (tx, caller) =>
        request.submitOnce(tx, caller, async () => {
          const by = { ...caller, clientInfo }
          const rotated = found(await rotateSecret(tx, by, params.id, rotation))
          const note = rotated.previousSecretExpiresAt
          const path = `/app/webhooks/${rotated.id}?done=rotated`
          return { path, secret: { secret: rotated.secret, note } }
        }),
      )
      return reply.redirect(location, 303)
    },
  )
  app.post(`${path}/enable`, { config: update, schema }, async (request, reply) => {
    const { params, tenantEntry, clientInfo } = request
    const now = app.clock.now()
    found(
      await app.db.write(tenantEntry, (tx, caller) =>
        enableEndpoint(tx, { ...caller, clientInfo }, params.id, now),
      ),
    )
    return redirect(reply, params.id, 'enabled')
  })
  app.post(
    `${path}/remove`,
    { config: remove, schema: { ...schema, body: RemoveForm } },
    async (request, reply) => {
      const { params, tenantEntry, clientInfo } = request
      const location = await app.db.write(tenantEntry, (tx, caller) =>
        request.submitOnce(tx, caller, async () => {
          const deleted = await deleteEndpoint(tx, { ...caller, clientInfo }, params.id)
          if (!deleted) throw new Problem('not-found')
          return { path: '/app/webhooks?done=removed' }
        }),
      )
      return reply.redirect(location, 303)
    },
  )
}

function filterOf(query: Static<typeof ListQuery>, now: Date) {
  const { since = '' } = query
  return {
    ...readFilters(query),
    ...(since !== '' && { from: new Date(now.getTime() - sinceMs[since]).toISOString() }),
  }
}

/**
 * Counts a form before its request to the endpoint is made, which cannot be rolled back.
 * @returns null the first time; the path to redirect to if the form was sent again
 */
async function countFirst(request: EndpointRequest, notice: WebhookNotice): Promise<string | null> {
  const { server, params, tenantEntry } = request
  let isFirst = false
  const location = await server.db.write(tenantEntry, (tx, caller) =>
    request.submitOnce(tx, caller, async () => {
      isFirst = true
      found(await findEndpoint(tx, caller, params.id))
      return { path: `/app/webhooks/${params.id}?done=${notice}` }
    }),
  )
  return isFirst ? null : location
}

type Shown = Partial<Pick<EndpointView, 'fault' | 'newSecret'>> & {
  query?: Static<typeof Query>
}

/** Reads everything the page shows in one transaction. */
async function sendEndpoint(
  request: EndpointRequest,
  reply: FastifyReply,
  { query = {}, fault = null, newSecret = null }: Shown,
) {
  const { server, tenantEntry } = request
  const { id } = request.params
  const { done, test, since = '', cursor } = query
  const { status = '', eventType = '', httpStatus = '', event = '' } = query
  const now = server.clock.now()
  const part = { limit: pageSize, ...(cursor !== undefined && { cursor }) }
  const page = readPage(part, deliveryList.name, deliveryList.forms)
  const filter = filterOf(query, now)
  const result = await server.db.read(tenantEntry, async (tx, caller) => {
    const [endpoint, stats, deliveries, tested, probed, appTypes] = await Promise.all([
      findEndpoint(tx, caller, id),
      measureEndpoints(tx, caller, now, id),
      listDeliveries(tx, caller, id, filter, page),
      test === undefined ? null : findDelivery(tx, caller, test),
      findProbe(tx, caller, id),
      listAppTypeNames(tx),
    ])
    return {
      appTypes,
      endpoint: found(endpoint),
      stats: stats.get(id),
      deliveries: found(deliveries),
      test: tested,
      probe: probed?.report ?? null,
    }
  })
  const deliveries = {
    ...result.deliveries,
    filter: { status, httpStatus, eventType, since, event },
    isLater: cursor !== undefined,
  }
  return reply.sendLivePage(
    endpointPage({
      viewer: request.viewer,
      ...result,
      test: result.test?.endpointId === id ? result.test : null,
      deliveries,
      done,
      fault,
      newSecret,
    }),
  )
}

/** Post/Redirect/Get, so that a reload does not repeat the action. */
function redirect(
  reply: FastifyReply,
  id: string,
  notice: WebhookNotice,
  extraQuery: Record<string, string> = {},
) {
  const query = new URLSearchParams({ done: notice, ...extraQuery })
  return reply.redirect(`/app/webhooks/${id}?${query}`, 303)
}

export default webhookEndpoint
