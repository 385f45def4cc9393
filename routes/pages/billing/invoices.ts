import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { readList } from '#src/http/pagination.ts'
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
    showInvoices,
  )
}

async function showInvoices(
  this: FastifyInstance,
  request: FastifyRequest<{ Querystring: Static<typeof CursorQuery> }>,
  reply: FastifyReply,
) {
  const { page } = readList({ limit: pageSize, ...request.query }, invoiceList)
  const { data, ...cursors } = await this.db.read(request.tenantEntry, (tx, caller) =>
    listInvoices(tx, caller, page),
  )
  return reply.sendPage(invoiceListPage(request.viewer, data, cursors))
}

export default invoices
