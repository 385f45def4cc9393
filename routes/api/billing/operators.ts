import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import {
  billingCustomerActions,
  billingEventActions,
  billingReplayActions,
  reconciliationActions,
  subscriptionActions,
} from '#src/billing/actions.ts'

const at = { entryOf: ({ entry }: FastifyRequest) => entry }
const inSession = { entryOf: ({ sessionEntry }: FastifyRequest) => sessionEntry }

/** Events received from the billing provider, for operators. */
export const billingEvents: FastifyPluginAsyncTypebox = async function billingEvents(app) {
  app.api('GET /billing/events', billingEventActions.list, at)
  app.api('GET /billing/events/:id', billingEventActions.get, at)
  app.api('POST /billing/events/:id/dismiss', billingEventActions.dismiss, inSession)
}

/** Processing received events again, one or many. */
export const billingReplays: FastifyPluginAsyncTypebox = async function billingReplays(app) {
  const { one, many, get } = billingReplayActions(app.queue)
  app.api('POST /billing/events/:id/replay', one, at)
  app.api('POST /billing/events/replay', many, at)
  app.api('GET /billing/replays/:id', get, at)
}

/** Compares the billing provider's list of events with the received events. */
export const billingReconciliations: FastifyPluginAsyncTypebox =
  async function billingReconciliations(app) {
    const { create, list, get } = reconciliationActions(app.queue)
    app.api('POST /billing/reconciliations', create, at)
    app.api('GET /billing/reconciliations', list, at)
    app.api('GET /billing/reconciliations/:id', get, at)
  }

/** Which user gets the invoices and the plan of a billing customer, for operators. */
export const billingCustomers: FastifyPluginAsyncTypebox = async function billingCustomers(app) {
  const { list, link } = billingCustomerActions(app.queue)
  app.api('GET /billing/customers', list, inSession)
  app.api('GET /billing/subscriptions', subscriptionActions.all, inSession)
  app.api('PUT /billing/customers/:customer', link, inSession)
}
