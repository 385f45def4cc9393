import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { plansPath } from '#src/access/policy.ts'
import { type Checkout, type CheckoutRefusal, toCheckoutProblem } from '#src/billing/checkout.ts'
import type { ProviderPage } from '#src/billing/provider-api.ts'
import { VisibleAscii } from '#src/http/schemas.ts'
import { leavingPage } from '#src/pages/account/plan.ts'

type Options = { checkout: Checkout; baseUrl: string }

const PriceForm = Type.Object({ price: VisibleAscii(255) }, { additionalProperties: false })

const hide = true

/** The forms of the account page that lead to the provider's pages. */
const plan: FastifyPluginAsyncTypebox<Options> = async function plan(app, { checkout, baseUrl }) {
  const returnUrl = `${baseUrl}${plansPath}`
  app.post(
    '/app/account/checkout',
    {
      config: { access: { resource: 'plan', action: 'create' } },
      schema: { hide, body: PriceForm },
    },
    async (request, reply) => {
      const order = { price: request.body.price, returnUrl }
      return leave(request, reply, await checkout.start(app.db, request.sessionEntry, order))
    },
  )
  app.post(
    '/app/account/portal',
    { config: { access: { resource: 'plan', action: 'update' } }, schema: { hide } },
    async (request, reply) =>
      leave(request, reply, await checkout.openPortal(app.db, request.sessionEntry, returnUrl)),
  )
}

/**
 * Sends the browser to a page of the provider. No redirect: `form-action` of the page would have to name
 * its origin, which the provider says only now.
 */
function leave(
  request: FastifyRequest,
  reply: FastifyReply,
  started: ProviderPage | CheckoutRefusal,
) {
  if (typeof started === 'string') throw toCheckoutProblem(started)
  reply.header('refresh', `0; url=${new URL(started.url).href}`)
  return reply.sendPage(leavingPage(request.viewer, started.url))
}

export default plan
