import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import {
  type CheckoutRefusal,
  decideCheckout,
  findOwnBilling,
  isCustomerFree,
  startCheckout,
} from '#src/billing/checkout.ts'
import type { CheckoutApi } from '#src/billing/provider-api.ts'
import type { BillingPlans } from '#src/config/billing.ts'
import { Problem } from '#src/http/problems.ts'
import { problems, VisibleAscii } from '#src/http/schemas.ts'

type Options = { checkout: CheckoutApi | null; plans: BillingPlans | null; baseUrl: string }

const Checkout = Type.Object(
  {
    price: Type.String({
      ...VisibleAscii(255),
      description: 'A price of `BILLING_PLANS`',
    }),
    returnTo: Type.Optional(
      Type.String({
        ...VisibleAscii(2_000),
        description:
          'Where the provider sends the browser afterwards: one of our own pages, or a path of `SIGN_IN_RETURN_TO`. Default: the account page.',
      }),
    ),
  },
  { title: 'Checkout', additionalProperties: false },
)
const CheckoutPage = Type.Object(
  { url: Type.String({ format: 'uri', description: 'A page of the billing provider' }) },
  { title: 'CheckoutPage' },
)

const tags = ['billing']
const accountPath = '/app/account'

/** Where people pay, and change what they pay: pages of the billing provider. */
const checkout: FastifyPluginAsyncTypebox<Options> = async function checkout(
  app,
  { checkout: api, plans, baseUrl },
) {
  app.post(
    '/billing/checkout',
    {
      config: { idempotencyKey: false, access: { resource: 'plan', action: 'create' } },
      schema: {
        operationId: 'startCheckout',
        tags,
        summary: 'Start to pay for a plan',
        description:
          'Creates the provider’s customer of this user, or uses the one that they have, and answers with the page where they pay. The plan changes when the provider reports the subscription. 400 for a price that is not in `BILLING_PLANS` or that the provider does not have; 404 if the installation has no checkout; 409 while a plan runs, which is changed at the portal, if the user cannot have a customer, if the provider has deleted it, and if the user has deleted their own tenant; 503 if the provider does not answer.',
        body: Checkout,
        response: { 200: CheckoutPage, ...problems('not-found', 'conflict', 'unavailable') },
      },
    },
    async (request) => {
      const { sessionEntry, body } = request
      const { price, returnTo = accountPath } = body
      const path = app.allowedReturn(returnTo)
      if (path === null) throw new Problem('malformed', { detail: 'returnTo is no path of ours.' })
      const { caller, own } = await app.db.read(sessionEntry, async (tx, caller) => ({
        caller,
        own: await findOwnBilling(tx, caller),
      }))
      if (api === null) throw notConfigured()
      const decided = decideCheckout(price, plans, caller, own)
      if (typeof decided === 'string') throw toProblem(decided)
      const order = { price, returnUrl: `${baseUrl}${path}` }
      const started = await startCheckout(api, caller, order, own.customer, (customer) =>
        app.db.read(sessionEntry, (tx) => isCustomerFree(tx, customer)),
      ).catch((error) => {
        throw unavailable(request, error)
      })
      if (typeof started === 'string') throw toProblem(started)
      return started
    },
  )

  app.post(
    '/billing/portal',
    {
      config: { access: { resource: 'plan', action: 'update' } },
      schema: {
        operationId: 'openBillingPortal',
        tags,
        summary: 'Change or cancel what you pay',
        description:
          'Answers with the provider’s own page for cards, invoices and cancelling. 404 if the installation has no checkout; 409 if the user has never paid, or if the provider has deleted their customer; 503 if the provider does not answer.',
        response: { 200: CheckoutPage, ...problems('not-found', 'conflict', 'unavailable') },
      },
    },
    async (request) => {
      const own = await app.db.read(request.sessionEntry, findOwnBilling)
      if (api === null) throw notConfigured()
      if (own.customer === null) throw toProblem('no-customer')
      const opened = await api
        .openPortal(own.customer, `${baseUrl}${accountPath}`)
        .catch((error) => {
          throw unavailable(request, error)
        })
      if (typeof opened === 'string') throw toProblem(opened)
      return opened
    },
  )
}

function notConfigured(): Problem {
  return new Problem('not-found', { detail: 'This installation has no checkout.' })
}

function unavailable(request: { log: { warn(facts: object, text: string): void } }, err: unknown) {
  if (err instanceof Problem) return err
  request.log.warn({ err }, 'the billing provider did not start a page')
  return new Problem('unavailable', { retryAfterSeconds: 5 })
}

function toProblem(refusal: CheckoutRefusal): Problem {
  const isOfPrice = refusal === 'unknown-price' || refusal === 'price-refused'
  const code = isOfPrice ? 'malformed' : 'conflict'
  return new Problem(code, { detail: details[refusal] })
}

const details: Readonly<Record<CheckoutRefusal, string>> = {
  'unknown-price': 'There is no plan with this price.',
  'price-refused': 'The billing provider does not have this price.',
  'no-tenant': 'You have deleted your own tenant, which had your plan and your invoices.',
  'has-plan': 'You have a plan already. Change or cancel it at the billing portal.',
  'no-customer': 'The billing provider has no customer for you.',
  'customer-gone': 'The billing provider has deleted your customer. Ask an operator to unlink it.',
}

export default checkout
