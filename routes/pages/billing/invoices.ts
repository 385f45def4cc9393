import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { readList } from '#src/http/lists/pagination.ts'
import { found, readId } from '#src/http/params.ts'
import { CursorQuery, IdParams } from '#src/http/schemas.ts'
import { invoiceListPage, invoicePage } from '#src/pages/billing/invoices.ts'
import { invoices as declared } from '#src/resources/invoices.ts'
import { actionsOf } from '#src/rows/actions.ts'

const { find, listing, list } = actionsOf(declared)

const pageSize = '25'

const config = { access: { resource: 'invoice', action: 'read' } } as const

/** The pages of the tenant's invoices. */
const invoices: FastifyPluginAsyncTypebox = async function invoices(app) {
  app.get(
    '/app/invoices',
    { config, schema: { hide: true, querystring: CursorQuery } },
    async (request, reply) => {
      const { page } = readList({ limit: pageSize, ...request.query }, listing)
      const { data, ...cursors } = await app.db.read(request.tenantEntry, (tx, caller) =>
        list(tx, caller, page),
      )
      return reply.sendPage(invoiceListPage(request.viewer, data, cursors))
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
