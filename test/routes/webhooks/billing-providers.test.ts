import { Stripe } from 'stripe'
import t from 'tap'
import { testConfig } from '#dev/testing/settings.ts'
import { stripeCharge, stripeEvent } from '#test/billing/providers/bodies.ts'
import { build } from '#test/support/app/app.ts'
import { countRows, nothingRecorded, path, sign } from './send-event.ts'

const secret = 'whsec_a_secret_of_stripe'
const settings = { BILLING_PROVIDER: 'stripe', BILLING_WEBHOOK_SECRETS: secret }

t.test('only the header of the configured provider counts, whatever is beside it', async (t) => {
  const { app, database } = await build(t, settings)
  const payload = stripeEvent('evt_1', 'charge.succeeded', stripeCharge())
  const post = (headers: Record<string, string>) =>
    app.inject({ method: 'POST', url: path, payload, headers })
  const own = sign(Buffer.from(payload), { secret })
  const wrong = `t=1,v1=${'0'.repeat(64)}`
  const refused = { statusCode: 400, body: 'bad signature' }
  t.match(await post({ 'webhook-signature': own }), refused, 'the specification’s header')
  t.match(await post({ 'webhook-signature': own, 'stripe-signature': wrong }), refused, 'mixed')
  t.strictSame(await countRows(database), nothingRecorded)
  const good = Stripe.webhooks.generateTestHeaderString({ payload, secret })
  const mixed = { 'stripe-signature': good, 'webhook-signature': wrong, 'paddle-signature': wrong }
  t.match(await post(mixed), { statusCode: 200, body: 'recorded' })
  t.match(await post({ 'stripe-signature': good }), { statusCode: 200, body: 'duplicate' })
})

t.test('the specification’s own format refuses a Stripe signature', async (t) => {
  const { app, database } = await build(t, { BILLING_WEBHOOK_SECRETS: secret })
  const payload = stripeEvent('evt_1', 'charge.succeeded', stripeCharge())
  const header = Stripe.webhooks.generateTestHeaderString({ payload, secret })
  const headers = { 'stripe-signature': header }
  const answer = await app.inject({ method: 'POST', url: path, payload, headers })
  t.match(answer, { statusCode: 400, body: 'bad signature' })
  t.strictSame(await countRows(database), nothingRecorded)
})

t.test('an ignored event says why', async (t) => {
  const { app, database } = await build(t, settings)
  const events = [
    stripeEvent('guest', 'charge.succeeded', stripeCharge({ customer: null })),
    stripeEvent('other', 'charge.succeeded', stripeCharge(), { account: 'acct_1' }),
    stripeEvent('kind', 'charge.failed', stripeCharge()),
  ]
  for (const payload of events) {
    const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret })
    const headers = { 'stripe-signature': signature }
    const answer = await app.inject({ method: 'POST', url: path, payload, headers })
    t.match(answer, { statusCode: 200, body: 'ignored' })
  }
  const { rows } = await database.admin.query(
    'SELECT event_id, status, outcome FROM received_events ORDER BY 1',
  )
  t.strictSame(rows, [
    { event_id: 'guest', status: 'ignored', outcome: 'guest' },
    { event_id: 'kind', status: 'ignored', outcome: 'kind' },
    { event_id: 'other', status: 'ignored', outcome: 'connected-account' },
  ])
})

t.test('a setting of one provider with another is a fault at start', async (t) => {
  const url = 'postgres://a@b/c'
  const urls = { superuserUrl: url, ownerUrl: url, url, workerUrl: url }
  const faultsOf = (settings: Record<string, string>) => {
    try {
      testConfig(urls, settings)
    } catch (error) {
      return String(error)
    }
    return ''
  }
  const stripe = { BILLING_PROVIDER: 'stripe', BILLING_WEBHOOK_SECRETS: 'whsec_0123456789' }
  const paddle = { BILLING_PROVIDER: 'paddle', BILLING_WEBHOOK_SECRETS: 'pdl_ntfset_0123456789' }
  const standard = {
    BILLING_PROVIDER: 'standard',
    BILLING_WEBHOOK_SECRETS: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  }
  for (const good of [
    stripe,
    paddle,
    standard,
    { ...standard, BILLING_WEBHOOK_SECRETS: 'polar_whs_0123456789abcdef' },
    { ...standard, BILLING_WEBHOOK_SECRETS: 'a text that Polar was given' },
    { ...stripe, BILLING_API_KEY: 'sk_test_1', BILLING_PLANS: 'price_1:pro,price_2:team' },
    { ...paddle, BILLING_API_KEY: 'pdl_sdbx_apikey_1' },
    { ...standard, BILLING_METADATA: 'order, seats.for' },
  ]) {
    t.equal(faultsOf(good), '', JSON.stringify(good))
  }
  for (const [bad, pattern] of [
    [
      { ...stripe, BILLING_WEBHOOK_SECRETS: 'pdl_ntfset_0123456789' },
      /one of paddle, but .* stripe/,
    ],
    [{ ...paddle, BILLING_WEBHOOK_SECRETS: 'whsec_0123456789' }, /starts with pdl_ntfset_/],
    [{ ...standard, BILLING_WEBHOOK_SECRETS: 'whsec_too_short_1' }, /at least 16 bytes as base64/],
    [{ BILLING_WEBHOOK_SECRETS: 'pdl_ntfset_0123456789' }, /one of paddle, but .* signed/],
    [{ ...stripe, BILLING_API_KEY: 'pdl_live_apikey_1' }, /BILLING_API_KEY: is one of paddle/],
    [{ ...paddle, BILLING_API_KEY: 'sk_live_1' }, /BILLING_API_KEY: is one of stripe/],
    [{ ...stripe, BILLING_API_KEY: 'pk_live_1' }, /needs a secret or restricted key/],
    [{ ...standard, BILLING_API_KEY: 'key' }, /no effect with BILLING_PROVIDER=standard/],
    [{ BILLING_PLANS: 'price_1:pro' }, /BILLING_PLANS: has no effect/],
    [{ ...stripe, BILLING_PLANS: 'price_1' }, /must be price:plan pairs/],
    [{ ...stripe, BILLING_PLANS: 'price_1:pro,price_1:team' }, /a price is there twice/],
    [{ BILLING_METADATA: 'order' }, /BILLING_METADATA: has no effect/],
    [{ ...stripe, BILLING_METADATA: 'order,gatehouse_user' }, /must be at most 20 keys/],
    [{ ...stripe, BILLING_METADATA: 'a b' }, /must be at most 20 keys/],
    [{ BILLING_PROVIDER: 'lemon' }, /BILLING_PROVIDER/],
  ] as const) {
    t.match(faultsOf(bad), pattern)
  }
})
