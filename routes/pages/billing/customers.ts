import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { billingCustomerActions } from '#src/billing/actions.ts'
import {
  customerList,
  linkCustomer,
  listCustomers,
  readHolder,
  toCustomerFormProblem,
} from '#src/billing/customers.ts'
import { readPage } from '#src/http/lists/pagination.ts'
import { PageQuery } from '#src/http/schemas.ts'
import {
  type CustomersNotice,
  customersPage,
  linkForm,
  newCustomerPage,
} from '#src/pages/billing/customers.ts'
import { confirmedField } from '#src/pages/kit/components.ts'
import { doneQuery } from '#src/pages/kit/layout.ts'

const pageSize = '25'

const Query = Type.Object(
  {
    ...doneQuery,
    cursor: PageQuery.properties.cursor,
  },
  { additionalProperties: false },
)
const UnlinkForm = Type.Object(
  { customer: linkForm.schema.properties.customer, ...confirmedField },
  { additionalProperties: false },
)

const hide = true
const path = '/app/billing/customers'
const read = { access: { resource: 'billing-customer', action: 'read' } } as const
const update = { access: { resource: 'billing-customer', action: 'update' } } as const

const inSession = ({ sessionEntry }: FastifyRequest) => sessionEntry

/** The page of billing customers, that of a new link, and their forms, for operators. */
const billingCustomers: FastifyPluginAsyncTypebox = async function billingCustomers(app) {
  app.get(path, { config: read, schema: { hide, querystring: Query } }, async (request, reply) => {
    const { sessionEntry, query } = request
    const { done, cursor } = query
    const part = { limit: pageSize, ...(cursor !== undefined && { cursor }) }
    const page = readPage(part, customerList.name, customerList.forms)
    const { data: customers, nextCursor } = await app.db.read(sessionEntry, (tx) =>
      listCustomers(tx, page),
    )
    return reply.sendPage(customersPage({ viewer: request.viewer, customers, nextCursor, done }))
  })
  app.get(`${path}/new`, { config: update, schema: { hide } }, async (request, reply) => {
    await request.enter()
    return reply.sendPage(newCustomerPage(request.viewer))
  })
  app.post(
    `${path}/new`,
    { config: update, schema: { hide, body: linkForm.schema } },
    async (request, reply) => {
      const { sessionEntry, body, clientInfo } = request
      const linked = await app.db.write(sessionEntry, (tx, operator) =>
        linkCustomer(tx, app.queue, operator, body.customer, readHolder(body.user), clientInfo),
      )
      if (typeof linked === 'string') throw toCustomerFormProblem(linked)
      return redirect(reply, 'linked')
    },
  )
  const notice: CustomersNotice = 'unlinked'
  app.form(`${path}/unlink`, billingCustomerActions(app.queue).link, {
    entryOf: inSession,
    to: path,
    notice,
    fields: UnlinkForm,
    read: () => ({ userId: null }),
  })
}

/** Post/Redirect/Get, so that a reload does not repeat the action. */
function redirect(reply: FastifyReply, notice: CustomersNotice) {
  return reply.redirect(`${path}?done=${notice}`, 303)
}

export default billingCustomers
