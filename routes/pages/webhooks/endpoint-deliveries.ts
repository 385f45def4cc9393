import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import { readPage } from '#src/http/lists/pagination.ts'
import { found } from '#src/http/params.ts'
import { UuidParams } from '#src/http/schemas.ts'
import { changedRows, sinceMs } from '#src/pages/webhooks/delivery.ts'
import { deliveriesPage } from '#src/pages/webhooks/endpoint.ts'
import { filterFields, readFilters } from '#src/pages/webhooks/review.ts'
import { findEndpoint } from '#src/webhooks/endpoints/endpoints.ts'
import { listAppTypeNames } from '#src/webhooks/events/app-types.ts'
import { deliveryList, listDeliveries } from '#src/webhooks/history/deliveries.ts'
import { isSearch } from '#src/webhooks/history/filter.ts'

const pageSize = '20'

// A form also sends its empty fields; an empty field is no filter.
const listFields = {
  ...filterFields,
  since: Type.Optional(Type.Enum(['', 'hour', 'day', 'week'])),
}
const ListQuery = Type.Object(listFields, { additionalProperties: false })
const Query = Type.Object(
  { ...listFields, cursor: Type.Optional(Type.String({ maxLength: 2_000 })) },
  { additionalProperties: false },
)

const path = '/webhooks/:id/deliveries'
const hide = true

/** The deliveries of one webhook endpoint, as a page and as an event stream. */
const endpointDeliveries: FastifyPluginAsyncTypebox = async function endpointDeliveries(app) {
  app.get(
    path,
    {
      config: { access: { resource: 'webhook-endpoint', action: 'read' } },
      schema: { hide, params: UuidParams, querystring: Query },
    },
    async (request, reply) => {
      const { tenantPrincipalEntry, params, query } = request
      const { cursor, since = '' } = query
      const { status = '', eventType = '', httpStatus = '', event = '' } = query
      const part = { limit: pageSize, ...(cursor !== undefined && { cursor }) }
      const page = readPage(part, deliveryList.name, deliveryList.forms)
      const filter = filterOf(query, app.clock.now())
      const result = await app.db.read(tenantPrincipalEntry, async (tx, caller) => {
        const [endpoint, deliveries, appTypes] = await Promise.all([
          findEndpoint(tx, caller, params.id),
          listDeliveries(tx, caller, params.id, filter, page),
          listAppTypeNames(tx),
        ])
        return { endpoint: found(endpoint), deliveries: found(deliveries), appTypes }
      })
      const deliveries = {
        ...result.deliveries,
        filter: { status, httpStatus, eventType, since, event },
        isLater: cursor !== undefined,
        isSearched: isSearch(filter),
      }
      const { viewer } = request
      return reply.sendLivePage(deliveriesPage({ viewer, ...result, deliveries }))
    },
  )
  // Sends the newest deliveries, then once per second the new and changed ones. Every read enters again,
  // so the stream ends with the session or the right to see them.
  app.get(
    `${path}/events`,
    {
      config: { access: { resource: 'delivery', action: 'read' } },
      schema: { hide, params: UuidParams, querystring: ListQuery },
      exposeHeadRoute: false,
    },
    async (request, reply) => {
      const { params, query, tenantPrincipalEntry } = request
      const page = readPage({ limit: pageSize }, deliveryList.name, deliveryList.forms)
      const read = () =>
        app.db.read(tenantPrincipalEntry, async (tx, caller) => {
          const filter = filterOf(query, app.clock.now())
          const { data } = found(await listDeliveries(tx, caller, params.id, filter, page))
          return { data, reader: caller.userId ?? caller.tenantId }
        })
      const takeChanged = changedRows(app.prefix)
      const { reader } = await read()
      return reply.streamEvents(`deliveries of ${reader}`, async () => {
        const { data } = await read()
        // The stream of an empty list ends; the browser opens a new one after some seconds.
        return { name: 'rows', data: { markup: takeChanged(data) }, isLast: data.length === 0 }
      })
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

export default endpointDeliveries
