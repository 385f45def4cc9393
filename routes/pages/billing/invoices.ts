import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { found, readId } from '#src/http/params.ts'
import { IdParams } from '#src/http/schemas.ts'
import { invoiceListPage, invoicePage } from '#src/pages/billing/invoices.ts'
import { listPageOf } from '#src/pages/kit/list-page.ts'
import { invoices as declared } from '#src/resources/invoices.ts'
import { actionsOf } from '#src/rows/actions.ts'
import { queryOf } from '#src/rows/query.ts'

const { find, listingBy, list } = actionsOf(declared)
const { query, querystring, read } = listPageOf(queryOf(declared, null))

const config = { access: { resource: 'invoice', action: 'read' } } as const

/** The pages of the tenant's invoices. */
const invoices: FastifyPluginAsyncTypebox = async function invoices(app) {
  app.get(
    '/app/invoices',
    { config, schema: { hide: true, querystring } },
    async (request, reply) => {
      const { page, filter, used } = read(request.query, listingBy)
      const listed = await app.db.read(request.tenantEntry, (tx, caller) =>
        list(tx, caller, page, filter, { sort: used.sort, count: true }),
      )
      const { data: invoices, count, ...cursors } = listed
      const { viewer } = request
      return reply.sendPage(invoiceListPage({ viewer, invoices, cursors, count, query, used }))
    },
  )
  app.get(
    '/app/invoices/:id',
    { config, schema: { hide: true, params: IdParams } },
    async (request, reply) => {
      const id = readId(request.params.id)
      const invoice = found(await app.db.read(request.tenantEntry, find(id)))
      return reply.sendPage(invoicePage(request.viewer, invoice))
    },
  )
}

export default invoices
