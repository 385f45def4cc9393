import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import {
  customerList,
  linkCustomer,
  listCustomers,
  toCustomerProblem,
} from '#src/billing/customers.ts'
import { readPage } from '#src/http/lists/pagination.ts'
import { Id, Line, Nullable, PageOf, PageQuery, problems } from '#src/http/schemas.ts'

const Customer = Type.Object(
  {
    customer: Type.String({ description: 'Id at the billing provider' }),
    userId: Id,
    email: Nullable(Type.String()),
  },
  { title: 'BillingCustomer' },
)
const CustomerParams = Type.Object({ customer: Line(255) }, { additionalProperties: false })
const CustomerLink = Type.Object(
  { userId: Nullable(Type.Integer({ ...Id, description: 'null unlinks the customer' })) },
  { title: 'BillingCustomerLink', additionalProperties: false },
)
const LinkedCustomer = Type.Object(
  {
    customer: Type.String(),
    userId: Nullable(Id),
  },
  { title: 'LinkedBillingCustomer' },
)

const tags = ['billing customers']

/** Which user gets the invoices and the plan of a billing customer, for operators. */
const billingCustomers: FastifyPluginAsyncTypebox = async function billingCustomers(app) {
  app.get(
    '/billing/customers',
    {
      config: { access: { resource: 'billing-customer', action: 'read' } },
      schema: {
        operationId: 'listBillingCustomers',
        tags,
        summary: 'List the billing customers that are linked to users',
        description: 'For operators.',
        querystring: PageQuery,
        response: { 200: PageOf(Customer) },
      },
    },
    async (request) => {
      const page = readPage(request.query, customerList.name, customerList.forms)
      return app.db.read(request.sessionEntry, (tx) => listCustomers(tx, page))
    },
  )

  app.put(
    '/billing/customers/:customer',
    {
      config: { access: { resource: 'billing-customer', action: 'update' } },
      schema: {
        operationId: 'linkBillingCustomer',
        tags,
        summary: 'Link a billing customer to a user',
        description:
          'For operators. From now on the customer’s charges create invoices in the user’s own tenant, and its subscription sets the user’s plan. It is taken from the user who had it; existing invoices stay. 404 if the user does not exist, 409 if the user has another customer.',
        params: CustomerParams,
        body: CustomerLink,
        response: { 200: LinkedCustomer, ...problems('conflict') },
      },
    },
    async (request) => {
      const { sessionEntry, params, body, clientInfo } = request
      const holder = body.userId === null ? null : { userId: body.userId }
      const linked = await app.db.write(sessionEntry, (tx, operator) =>
        linkCustomer(tx, app.queue, operator, params.customer, holder, clientInfo),
      )
      if (typeof linked === 'string') throw toCustomerProblem(linked)
      return { customer: params.customer, userId: linked.userId }
    },
  )
}

export default billingCustomers
