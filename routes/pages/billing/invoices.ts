import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { readList } from '#src/http/lists/pagination.ts'
import { CursorQuery } from '#src/http/schemas.ts'
import { invoiceListPage } from '#src/pages/billing/invoices.ts'
import { invoiceList, listInvoices } from '#src/resources/invoices.ts'

const pageSize = '25'

/** The page of the tenant's invoices. */
const invoices: FastifyPluginAsyncTypebox = async function invoices(app) {
  app.get(
    '/app/invoices',
    {
      config: { access: { resource: 'invoice', action: 'read' } },
      schema: { hide: true, querystring: CursorQuery },
    },
    async (request, reply) => {
      const { page } = readList({ limit: pageSize, ...request.query }, invoiceList)
      const { data, ...cursors } = await app.db.read(request.tenantEntry, (tx, caller) =>
        listInvoices(tx, caller, page),
      )
      return reply.sendPage(invoiceListPage(request.viewer, data, cursors))
    },
  )
}

export default invoices
