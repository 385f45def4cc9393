import { Paddle } from '@paddle/paddle-node-sdk'
import { Webhook } from 'standardwebhooks'
import { Stripe } from 'stripe'
import t from 'tap'
import { paddle, paddleKinds } from '#src/billing/providers/paddle.ts'
import { standard, standardKinds } from '#src/billing/providers/standard.ts'
import { stripeKinds } from '#src/billing/providers/stripe.ts'
import { signSample } from '#src/billing/sample.ts'

const created = Math.floor(Date.now() / 1_000)
const facts = {
  ...{ id: 'evt_1', created, customer: 'cus_1', amount: 4_900, currency: 'eur' },
  status: 'active',
}

t.test('the libraries of the providers accept the samples', async (t) => {
  for (const type of Object.keys(stripeKinds)) {
    const secret = 'whsec_0123456789'
    const { body, headers } = signSample('stripe', { ...facts, type }, secret)
    const header = String(headers['stripe-signature'])
    t.match(Stripe.webhooks.constructEvent(body, header, secret), { id: 'evt_1', type })
    t.throws(() => Stripe.webhooks.constructEvent(`${body} `, header, secret))
  }
  const { webhooks } = new Paddle('key')
  for (const type of Object.keys(paddleKinds)) {
    const secret = 'pdl_ntfset_0123456789'
    const { body, headers } = signSample('paddle', { ...facts, type }, secret)
    const header = String(headers['paddle-signature'])
    t.ok(await webhooks.isSignatureValid(body, secret, header), type)
    t.notOk(await webhooks.isSignatureValid(`${body} `, secret, header))
  }
  for (const type of Object.keys(standardKinds)) {
    const webhook = new Webhook('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
    const { body, headers } = signSample('standard', { ...facts, type }, secret)
    t.match(webhook.verify(body, headers), { type })
    t.throws(() => webhook.verify(`${body} `, headers))
  }
})

t.test('each sample of Paddle and Polar has an effect', async (t) => {
  for (const [provider, kinds] of [
    [paddle, paddleKinds],
    [standard, standardKinds],
  ] as const) {
    for (const [type, kind] of Object.entries(kinds)) {
      const { body, headers } = signSample(provider.name, { ...facts, type }, 'whsec_0123456789')
      const event = provider.parse(headers, Buffer.from(body))
      if (event === null) t.fail(`${provider.name} ${type} cannot be read`)
      else t.match(provider.effectOf(event, event.object), { kind, customer: 'cus_1' }, type)
    }
  }
})
