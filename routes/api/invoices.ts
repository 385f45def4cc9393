import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { CreatedRange, SortBy } from '#src/http/list-query.ts'
import { readList } from '#src/http/pagination.ts'
import { found, readId } from '#src/http/params.ts'
import { IdParams, Line, PageOf, PageQuery, problems } from '#src/http/schemas.ts'
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
        response: { 200: PageOf(Invoice), ...problems(400, 401, 403, 429, 503) },
      },
    },
    listTenantInvoices,
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
        response: { 200: Invoice, ...problems(400, 401, 403, 404, 429, 503) },
      },
    },
    readInvoice,
  )
}

async function listTenantInvoices(
  this: FastifyInstance,
  request: FastifyRequest<{ Querystring: Static<typeof InvoiceQuery> }>,
) {
  const { page, filter } = readList(request.query, invoiceList)
  return this.db.read(request.tenantPrincipalEntry, (tx, caller) =>
    listInvoices(tx, caller, page, filter),
  )
}

async function readInvoice(
  this: FastifyInstance,
  request: FastifyRequest<{ Params: Static<typeof IdParams> }>,
) {
  const id = readId(request.params.id)
  return found(await findInvoice(this.db, request.tenantPrincipalEntry, id))
}

export default invoices
