import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { subscriptionActions } from '#src/billing/actions.ts'
import { type Checkout, type CheckoutRefusal, toCheckoutProblem } from '#src/billing/checkout.ts'
import { intervals } from '#src/billing/details.ts'
import { choicesOf } from '#src/billing/offers.ts'
import type { ProviderPage } from '#src/billing/provider-api.ts'
import { Problem } from '#src/http/problems.ts'
import { Nullable, problems, VisibleAscii } from '#src/http/schemas.ts'
import { tagOf } from '#src/resources/kit/names.ts'

type Options = { checkout: Checkout; baseUrl: string }

const CheckoutOrder = Type.Object(
  {
    price: Type.String({
      ...VisibleAscii(255),
      description: 'A price of `BILLING_PLANS`',
    }),
    returnTo: Type.Optional(
      Type.String({
        ...VisibleAscii(2_000),
        description:
          'Where the provider sends the browser afterwards: one of our own pages, a path of `SIGN_IN_RETURN_TO` or a URL of an origin in `APP_ORIGINS`. Default: the account page.',
      }),
    ),
  },
  { title: 'Checkout', additionalProperties: false },
)
const CheckoutPage = Type.Object(
  { url: Type.String({ format: 'uri', description: 'A page of the billing provider' }) },
  { title: 'CheckoutPage' },
)

const Plans = Type.Object(
  {
    data: Type.Array(
      Type.Object(
        {
          plan: Type.String({ description: 'Names the plan, as `plan` of `GET /me` does' }),
          name: Type.String({ description: 'For people' }),
          isCurrent: Type.Boolean({ description: 'It is yours' }),
          features: Type.Array(Type.String(), { description: 'What it allows' }),
          limits: Type.Array(
            Type.Object({
              resource: Type.String({ description: 'Its path without the slash' }),
              limit: Nullable(Type.Integer({ description: 'The most rows; null if unlimited' })),
            }),
            { description: 'How many rows it allows, for each resource that it limits' },
          ),
          prices: Type.Array(
            Type.Object(
              {
                price: Type.String({ description: 'For `POST /billing/checkout`' }),
                terms: Nullable(
                  Type.Object(
                    {
                      amount: Type.Integer({ description: 'Minor units for each interval' }),
                      currency: Type.String({
                        description: 'ISO 4217, in small letters',
                        examples: ['eur'],
                      }),
                      digits: Type.Integer({
                        description: 'Of `amount` after the decimal point: 4900 with 2 is 49.00',
                      }),
                      interval: Type.Enum([...intervals], {
                        description: 'The unit of the time between two payments',
                      }),
                      intervalCount: Type.Integer({
                        description: 'How many of `interval`: 3 with `month` is every quarter',
                      }),
                      trialDays: Nullable(
                        Type.Integer({
                          description: 'Days before the first payment; null for none',
                        }),
                      ),
                    },
                    {
                      title: 'PriceTerms',
                      description:
                        'As the billing provider has them; null if it does not say them now, or in one number',
                    },
                  ),
                ),
              },
              { title: 'PlanPrice' },
            ),
            { description: 'For each way to pay for it; empty for a plan that is free' },
          ),
        },
        { title: 'PlanChoice' },
      ),
      { description: 'In the order of the app, the least first' },
    ),
  },
  { title: 'Plans' },
)

const tags = ['billing']
const accountPath = '/app/account'

/** Where people pay, and change what they pay: pages of the billing provider. */
const checkout: FastifyPluginAsyncTypebox<Options> = async function checkout(
  app,
  { checkout: pages, baseUrl },
) {
  app.api('GET /subscriptions', subscriptionActions.own, {
    entryOf: ({ entry }: FastifyRequest) => entry,
  })
  app.get(
    '/billing/plans',
    {
      config: { access: { resource: 'profile', action: 'read' } },
      schema: {
        operationId: 'listPlans',
        tags,
        summary: 'List the plans to choose from',
        description:
          'In the order of the app, the least first; empty if nothing can be bought here.',
        response: { 200: Plans },
      },
    },
    async (request) => {
      const [current, own] = await app.db.read(
        request.entry,
        async (tx, caller) => [caller.plan, await pages.find(tx, caller)] as const,
      )
      const offers = own.holder === 'no-tenant' ? [] : await pages.offersFor(own)
      const choices = choicesOf(offers, current)
      return {
        data: choices.map(({ plan, title, isCurrent, features, limits, offers }) => ({
          ...{ plan, name: title, isCurrent, features: [...features] },
          limits: Object.entries(limits).map(([plural, limit]) => ({
            ...{ resource: tagOf({ plural }), limit },
          })),
          prices: offers.map(({ price, terms }) => ({ price, terms })),
        })),
      }
    },
  )
  app.post(
    '/billing/checkout',
    {
      config: { idempotencyKey: false, access: { resource: 'plan', action: 'create' } },
      schema: {
        operationId: 'startCheckout',
        tags,
        summary: 'Start to pay for a plan',
        description:
          'Creates the provider’s customer of this user, or uses the one that they have, and answers with the page where they pay. With `BILLING_CUSTOMER=tenant` the customer is the tenant, and those who manage it pay for all of its members. The plan changes when the provider reports the subscription. 400 for a price that is not in `BILLING_PLANS` or that the provider does not have; 403 if the tenant pays and the user does not manage it; 404 if the installation has no checkout; 409 while a plan runs, which is changed at the portal, if the user cannot have a customer (Paddle needs a verified email address), if the provider has deleted it, and if the user has deleted their own tenant; 503 if the provider does not answer.',
        body: CheckoutOrder,
        response: { 200: CheckoutPage, ...problems('not-found', 'conflict', 'unavailable') },
      },
    },
    async (request) => {
      const { price, returnTo = accountPath } = request.body
      const target = app.allowedReturn(returnTo)
      if (target === null) {
        throw new Problem('malformed', { detail: 'returnTo is no path of ours.' })
      }
      const order = { price, returnUrl: new URL(target, baseUrl).href }
      return pageOf(await pages.start(app.db, request.sessionEntry, order))
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
          'Answers with the provider’s own page for cards, invoices and cancelling. 403 if the tenant pays and the user does not manage it; 404 if the installation has no checkout; 409 if the user has never paid, or if the provider has deleted their customer; 503 if the provider does not answer.',
        response: { 200: CheckoutPage, ...problems('not-found', 'conflict', 'unavailable') },
      },
    },
    async (request) => {
      const returnUrl = `${baseUrl}${accountPath}`
      return pageOf(await pages.openPortal(app.db, request.sessionEntry, returnUrl))
    },
  )
}

function pageOf(started: ProviderPage | CheckoutRefusal): ProviderPage {
  if (typeof started === 'string') throw toCheckoutProblem(started)
  return started
}

export default checkout
