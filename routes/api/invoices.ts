import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { readPage } from '#src/http/pagination.ts'
import { found, readId } from '#src/http/params.ts'
import { Id, IdParams, PageOf, PageQuery, problems, Time, Uuid } from '#src/http/schemas.ts'
import { findInvoice, invoiceList, listInvoices } from '#src/resources/invoices.ts'

const Invoice = Type.Object({
  id: Id,
  tenantId: Uuid,
  amount: Type.Integer({ description: 'Minor units of the currency' }),
  currency: Type.String(),
  status: Type.String(),
  createdAt: Time,
})

/** Invoices belong to a tenant: id AND the tenant of the verified session. */
const invoices: FastifyPluginAsyncTypebox = async function invoices(app) {
  app.get(
    '/invoices',
    {
      config: { access: { resource: 'invoice', action: 'read' } },
      schema: {
        tags: ['invoices'],
        summary: 'The invoices of your tenant, newest first',
        querystring: PageQuery,
        response: { 200: PageOf(Invoice), ...problems(400, 401, 403, 429, 503) },
      },
    },
    async (request) => {
      const scope = request.tenantScope
      const page = readPage(request.query, invoiceList.name, invoiceList.forms)
      return app.db.read(scope, (tx) => listInvoices(tx, scope, page))
    },
  )

  app.get(
    '/invoices/:id',
    {
      config: { access: { resource: 'invoice', action: 'read' } },
      schema: {
        tags: ['invoices'],
        summary: 'Read an invoice of your tenant',
        params: IdParams,
        response: { 200: Invoice, ...problems(400, 401, 403, 404, 429, 503) },
      },
    },
    async (request) => {
      const scope = request.tenantScope
      const id = readId(request.params.id)
      return found(await findInvoice(app.db, scope, id))
    },
  )
}

export default invoices
