import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { readPage } from '#src/http/lists/pagination.ts'
import { found } from '#src/http/params.ts'
import { UuidParams } from '#src/http/schemas.ts'
import { readFilters, type Used } from '#src/pages/kit/filters.ts'
import { listPageOf } from '#src/pages/kit/list-page.ts'
import { rangeOf, sinceParameter } from '#src/pages/kit/since.ts'
import { changedRows } from '#src/pages/webhooks/delivery.ts'
import { deliveriesPage } from '#src/pages/webhooks/endpoint.ts'
import { replayTimesOf } from '#src/pages/webhooks/forms.ts'
import { filterFields, selectionOf } from '#src/pages/webhooks/review.ts'
import { findEndpoint } from '#src/webhooks/endpoints/endpoints.ts'
import { listAppTypeNames } from '#src/webhooks/events/app-types.ts'
import { DeliveryQuery } from '#src/webhooks/history/actions.ts'
import { countListed, deliveryList, listDeliveries } from '#src/webhooks/history/deliveries.ts'
import { type DeliveryFilter, isSearch } from '#src/webhooks/history/filter.ts'

const pageSize = '20'

const { status, eventType, httpStatus, from, to, sort } = DeliveryQuery.properties
const list = listPageOf(
  Type.Object({
    event: filterFields.event,
    ...{ status, eventType, httpStatus },
    ...sinceParameter,
    ...{ from, to, sort },
  }),
  pageSize,
)
const StreamQuery = Type.Object(list.filters, { additionalProperties: false })

const path = '/webhooks/:id/deliveries'
const hide = true

/** The deliveries of one webhook endpoint, as a page and as an event stream. */
const endpointDeliveries: FastifyPluginAsyncTypebox = async function endpointDeliveries(app) {
  app.get(
    path,
    {
      config: { access: { resource: 'webhook-endpoint', action: 'read' } },
      schema: { hide, params: UuidParams, querystring: list.querystring },
    },
    async (request, reply) => {
      const { tenantPrincipalEntry, params, query } = request
      const { page, used } = list.read(query, deliveryList)
      const now = app.clock.now()
      const filter = filterOf(used, now)
      const { endpoint, listed, count, appTypes } = await app.db.read(
        tenantPrincipalEntry,
        async (tx, caller) => {
          const [endpoint, listed, count, appTypes] = await Promise.all([
            findEndpoint(tx, caller, params.id),
            listDeliveries(tx, caller, params.id, filter, page),
            countListed(tx, caller, params.id, filter),
            listAppTypeNames(tx),
          ])
          return { endpoint: found(endpoint), listed: found(listed), count, appTypes }
        },
      )
      const { data, ...cursors } = listed
      const deliveries = {
        ...{ data, cursors, count, query: list.query, used },
        range: replayTimesOf(rangeOf(used, now), now),
        isLive: query.cursor === undefined && used.sort === undefined,
        isSearched: isSearch(filter),
      }
      const { viewer } = request
      return reply.sendLivePage(deliveriesPage({ viewer, endpoint, appTypes, deliveries }))
    },
  )
  // Sends the newest deliveries, then once per second the new and changed ones. Every read enters again,
  // so the stream ends with the session or the right to see them.
  app.get(
    `${path}/events`,
    {
      config: { access: { resource: 'delivery', action: 'read' } },
      schema: { hide, params: UuidParams, querystring: StreamQuery },
      exposeHeadRoute: false,
    },
    async (request, reply) => {
      const { params, query, tenantPrincipalEntry } = request
      const page = readPage({ limit: pageSize }, deliveryList.name, deliveryList.forms)
      const read = () =>
        app.db.read(tenantPrincipalEntry, async (tx, caller) => {
          const filter = filterOf(readFilters(list.query, Object(query)), app.clock.now())
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

function filterOf(used: Used, now: Date): DeliveryFilter {
  return { ...selectionOf(used), ...rangeOf(used, now) }
}

export default endpointDeliveries
