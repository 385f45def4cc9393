import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { readList } from '#src/http/lists/pagination.ts'
import { CreatedRange, SortBy } from '#src/http/lists/query.ts'
import { found, readId } from '#src/http/params.ts'
import { IdParams, Line, PageOf, PageQuery } from '#src/http/schemas.ts'
import { findInvoice, Invoice, invoiceList, listInvoices } from '#src/resources/invoices.ts'

const InvoiceQuery = Type.Object(
  {
    ...PageQuery.properties,
    ...CreatedRange,
    currency: Type.Optional(Line(32)),
    sort: SortBy('createdAt'),
  },
  { additionalProperties: false },
)

/** Invoices belong to a tenant: every query has the id and the tenant of the credential. */
const invoices: FastifyPluginAsyncTypebox = async function invoices(app) {
  app.get(
    '/invoices',
    {
      config: { access: { resource: 'invoice', action: 'read' } },
      schema: {
        operationId: 'listInvoices',
        tags: ['invoices'],
        summary: 'List the invoices of your tenant, newest first',
        querystring: InvoiceQuery,
        response: { 200: PageOf(Invoice) },
      },
    },
    async (request) => {
      const { page, filter } = readList(request.query, invoiceList)
      return app.db.read(request.tenantPrincipalEntry, (tx, caller) =>
        listInvoices(tx, caller, page, filter),
      )
    },
  )

  app.get(
    '/invoices/:id',
    {
      config: { access: { resource: 'invoice', action: 'read' } },
      schema: {
        operationId: 'getInvoice',
        tags: ['invoices'],
        summary: 'Read an invoice of your tenant',
        params: IdParams,
        response: { 200: Invoice },
      },
    },
    async (request) => {
      const id = readId(request.params.id)
      return found(await app.db.read(request.tenantPrincipalEntry, findInvoice(id)))
    },
  )
}

export default invoices
