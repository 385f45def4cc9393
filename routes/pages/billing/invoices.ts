import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { actionsOf } from '#src/domain/actions.ts'
import { readList } from '#src/http/lists/pagination.ts'
import { CursorQuery } from '#src/http/schemas.ts'
import { invoiceListPage } from '#src/pages/billing/invoices.ts'
import { invoices as declared } from '#src/resources/invoices.ts'

const { listing, list } = actionsOf(declared)

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
      const { page } = readList({ limit: pageSize, ...request.query }, listing)
      const { data, ...cursors } = await app.db.read(request.tenantEntry, (tx, caller) =>
        list(tx, caller, page),
      )
      return reply.sendPage(invoiceListPage(request.viewer, data, cursors))
    },
  )
}

export default invoices
