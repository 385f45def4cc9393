import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import {
  isCustomerFree,
  linkCustomer,
  listDoublePayers,
  readHolder,
  toCustomerFormProblem,
} from '#src/billing/customers.ts'
import { dismissWaiting } from '#src/billing/dismiss.ts'
import type { BillingProvider } from '#src/billing/providers/provider.ts'
import { findWaiting, listWaiting, waitingList } from '#src/billing/waiting.ts'
import type { BillingPlans } from '#src/config/billing.ts'
import { readPage } from '#src/http/lists/pagination.ts'
import { Line, PageQuery } from '#src/http/schemas.ts'
import {
  dismissWaitingForm,
  linkWaitingForm,
  unlinkedPath as path,
  type UnlinkedNotice,
  unlinkedPage,
} from '#src/pages/billing/unlinked.ts'
import { doneQuery } from '#src/pages/kit/layout.ts'

type Options = { provider: BillingProvider; plans: BillingPlans | null }

// Customers on a page. Each shows up to twenty events.
const pageSize = '10'

const Query = Type.Object(
  { ...doneQuery, customer: Type.Optional(Line(255)), cursor: PageQuery.properties.cursor },
  { additionalProperties: false },
)

const hide = true
const read = { access: { resource: 'billing-customer', action: 'read' } } as const
const update = { access: { resource: 'billing-customer', action: 'update' } } as const
const dismiss = { access: { resource: 'billing-event', action: 'update' } } as const

/** The page of customers whose events wait for a user, and its forms, for operators. */
const unlinked: FastifyPluginAsyncTypebox<Options> = async function unlinked(app, reader) {
  app.get(path, { config: read, schema: { hide, querystring: Query } }, async (request, reply) => {
    const { sessionEntry, query } = request
    const { done, customer, cursor } = query
    const part = { limit: pageSize, ...(cursor !== undefined && { cursor }) }
    const page = readPage(part, waitingList.name, waitingList.forms)
    const shown = await app.db.read(sessionEntry, async (tx) => {
      if (customer === undefined) {
        const [{ data, nextCursor }, doublePayers] = await Promise.all([
          listWaiting(tx, reader, page),
          cursor === undefined ? listDoublePayers(tx) : [],
        ])
        return { customers: data, chosen: null, nextCursor, doublePayers }
      }
      const [customers, isFree] = await Promise.all([
        findWaiting(tx, reader, customer),
        isCustomerFree(tx, customer),
      ])
      return {
        customers,
        chosen: { customer, isLinked: !isFree },
        nextCursor: null,
        doublePayers: [],
      }
    })
    return reply.sendPage(unlinkedPage({ viewer: request.viewer, done, ...shown }))
  })
  app.post(
    path,
    { config: update, schema: { hide, body: linkWaitingForm.schema } },
    async (request, reply) => {
      const { sessionEntry, body, clientInfo } = request
      const linked = await app.db.write(sessionEntry, (tx, operator) =>
        linkCustomer(tx, app.queue, operator, body.customer, readHolder(body.user), clientInfo),
      )
      if (typeof linked === 'string') throw toCustomerFormProblem(linked)
      return reply.redirect(done('linked'), 303)
    },
  )
  app.post(
    `${path}/dismiss`,
    { config: dismiss, schema: { hide, body: dismissWaitingForm.schema } },
    async (request, reply) => {
      const { sessionEntry, clientInfo, body } = request
      const location = await app.db.write(sessionEntry, (tx, operator) =>
        request.submitOnce(tx, operator, async () => {
          await dismissWaiting(tx, operator, body, clientInfo)
          return { path: done('dismissed') }
        }),
      )
      return reply.redirect(location, 303)
    },
  )
}

/** Post/Redirect/Get, so that a reload does not repeat the action. */
function done(notice: UnlinkedNotice): string {
  return `${path}?done=${notice}`
}

export default unlinked
