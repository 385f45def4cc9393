import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { keyOf, standard } from '#src/billing/providers/standard.ts'
import { hmacSha256 } from '#src/crypto/hash.ts'
import { standardEvent } from './bodies.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const now = Math.floor(Date.now() / 1_000)
const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek'
const subscription = {
  id: 'sub_1',
  status: 'active',
  customer_id: 'cus_1',
  product_id: 'prod_1',
  current_period_end: '2026-12-18T10:26:40Z',
  cancel_at_period_end: false,
  modified_at: '2026-11-18T10:26:39Z',
}
const text = standardEvent('subscription.updated', subscription)
const bytes = Buffer.from(text)
const signature = new Webhook(secret).sign(id, new Date(now * 1_000), text)
const headers = {
  'webhook-id': id,
  'webhook-timestamp': String(now),
  'webhook-signature': signature,
}
const verify = (change: Record<string, string> = {}, secrets = [secret], at = now) =>
  standard.verify({ ...headers, ...change }, bytes, secrets, at)

t.test('what the official package signs is verified, and it parses the same event', async (t) => {
  t.strictSame(verify(), { ok: true, timestamp: now, secretIndex: 0 })
  const official: unknown = new Webhook(secret).verify(text, headers)
  const event = standard.parse(headers, bytes)
  t.match(official, { type: event?.type, data: event?.object })
  t.match(event, { id, kind: 'subscription', objectId: 'sub_1' })
})

t.test('one of several signatures and secrets is enough; other versions are ignored', async (t) => {
  const wrong = `v1,${'A'.repeat(43)}=`
  t.match(verify({ 'webhook-signature': `v1a,abc ${wrong} ${signature}` }), { ok: true })
  t.match(verify({}, ['whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', secret]), { secretIndex: 1 })
})

t.test('an id, time, body, header or secret that was not signed is refused', async (t) => {
  const bad = { ok: false, fault: 'bad signature' }
  for (const change of [
    { 'webhook-id': 'msg_other' },
    { 'webhook-id': '' },
    { 'webhook-id': `${id}, ${id}` },
    { 'webhook-timestamp': String(now + 1) },
    { 'webhook-timestamp': `${now}.0` },
    { 'webhook-signature': '' },
    { 'webhook-signature': signature.replace('v1,', 'v1a,') },
    { 'webhook-signature': `${signature}, ${signature}` },
    { 'webhook-signature': signature.replace('=', '') },
    { 'webhook-signature': `t=${now},v1=${'0'.repeat(64)}` },
    { 'webhook-signature': Array.from({ length: 9 }, () => signature).join(' ') },
  ]) {
    t.strictSame(verify(change), bad, JSON.stringify(change))
  }
  t.strictSame(verify({}, ['whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA']), bad)
  t.strictSame(standard.verify(headers, Buffer.from(`${text} `), [secret], now), bad)
  t.match(verify({}, [secret], now + 301), { fault: 'timestamp outside tolerance' })
})

t.test(
  'an id that is no name, or a time that is no number, is refused even if it was signed',
  async (t) => {
    const signed = (id: string, time: string) => {
      const digest = hmacSha256(keyOf(secret), `${id}.${time}.`, bytes).toString('base64')
      return verify({
        'webhook-id': id,
        'webhook-timestamp': time,
        'webhook-signature': `v1,${digest}`,
      })
    }
    t.match(signed(id, String(now)), { ok: true })
    for (const [name, time] of [
      ['', String(now)],
      ['a'.repeat(256), String(now)],
      [id, 'now'],
      [id, ` ${now}`],
      [id, `${now}.0`],
    ] as const) {
      t.strictSame(signed(name, time), { ok: false, fault: 'bad signature' }, `${name} ${time}`)
    }
  },
)

t.test('each kind has its effect', async (t) => {
  const effect = (type: string, data: Record<string, unknown>) => {
    const event = standard.parse(headers, Buffer.from(standardEvent(type, data)))
    if (event === null) throw new Error('no event')
    return event.ignored ?? standard.effectOf(event, event.object)
  }
  const periodEnd = Date.parse('2026-12-18T10:26:40Z') / 1_000
  const state = { status: 'active', prices: ['prod_1'], periodEnd, cancelsAt: null }
  const active = { kind: 'subscription', customer: 'cus_1', state }
  t.match(effect('subscription.active', subscription), active)
  t.match(effect('subscription.canceled', { ...subscription, cancel_at_period_end: true }), {
    state: { cancelsAt: periodEnd },
  })
  const order = {
    id: 'ord_1',
    customer: { id: 'cus_1' },
    currency: 'jpy',
    total_amount: 500,
    refunded_amount: 100,
  }
  t.strictSame(effect('order.refunded', order), {
    kind: 'payment',
    customer: 'cus_1',
    payment: 'ord_1',
    amount: 500,
    currency: 'jpy',
    digits: 0,
    refunded: 100,
  })
  t.equal(effect('order.paid', { ...order, customer: null }), 'guest')
  t.equal(effect('user.created', order), 'kind')
})

t.test('an order is what was paid, and its refunds have their tax beside them', async (t) => {
  const order = {
    id: 'ord_1',
    status: 'paid',
    customer_id: 'cus_1',
    currency: 'eur',
    total_amount: 4_900,
    tax_amount: 782,
    applied_balance_amount: 0,
    refunded_amount: 0,
    refunded_tax_amount: 0,
  }
  const effect = (type: string, change: object) => {
    const event = standard.parse(headers, Buffer.from(standardEvent(type, { ...order, ...change })))
    if (event === null) throw new Error('no event')
    return standard.effectOf(event, event.object)
  }
  const whole = { refunded_amount: 4_118, refunded_tax_amount: 782 }
  const balance = { applied_balance_amount: -900 }
  const none = { kind: 'none' }
  for (const [type, change, expected] of [
    ['order.paid', {}, { amount: 4_900, refunded: 0 }],
    ['order.refunded', { status: 'refunded', ...whole }, { amount: 4_900, refunded: 4_900 }],
    [
      'order.refunded',
      { status: 'partially_refunded', refunded_amount: 840, refunded_tax_amount: 160 },
      { refunded: 1_000 },
    ],
    ['order.paid', balance, { amount: 4_000 }],
    ['order.paid', { applied_balance_amount: 100 }, { amount: 5_000 }],
    [
      'order.refunded',
      { ...balance, status: 'refunded', ...whole, refunded_amount: 3_218 },
      { amount: 4_000, refunded: 4_000 },
    ],
    ['order.paid', { applied_balance_amount: -5_000 }, none],
    ['order.paid', { total_amount: 0, tax_amount: 0 }, none],
  ] as const) {
    t.match(effect(type, change), expected, `${type} ${JSON.stringify(change)}`)
  }
})

t.test('a refund that fails is taken back with its tax', async (t) => {
  const refund = {
    id: 're_1',
    order_id: 'ord_1',
    customer_id: 'cus_1',
    amount: 840,
    tax_amount: 160,
  }
  const effect = (status: string) => {
    const body = standardEvent('refund.updated', { ...refund, status })
    const event = standard.parse(headers, Buffer.from(body))
    if (event === null) throw new Error('no event')
    return standard.effectOf(event, event.object)
  }
  for (const status of ['failed', 'canceled']) {
    t.strictSame(effect(status), {
      kind: 'refund',
      customer: 'cus_1',
      payment: 'ord_1',
      refund: 're_1',
      amount: 1_000,
      isFailed: true,
      remaining: null,
    })
  }
  for (const status of ['pending', 'succeeded']) t.strictSame(effect(status), { kind: 'none' })
})

t.test('an older secret of Polar is the key as it is', async (t) => {
  // As Polar's package does: its bytes as base64, which the official package decodes again.
  const signedBy = (secret: string) => ({
    ...headers,
    'webhook-signature': new Webhook(Buffer.from(secret).toString('base64')).sign(
      id,
      new Date(now * 1_000),
      text,
    ),
  })
  for (const old of [
    'polar_whs_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'a text that Polar was given',
    secret,
  ]) {
    const of = (secrets: string[]) => standard.verify(signedBy(old), bytes, secrets, now)
    t.match(of([old]), { ok: true, secretIndex: 0 }, old)
    t.match(of(['polar_whs_another', old]), { ok: true, secretIndex: 1 }, old)
    t.match(of(['polar_whs_another']), { ok: false }, old)
  }
  const withNothing = hmacSha256(Buffer.alloc(0), `${id}.${now}.`, bytes).toString('base64')
  const empty = { ...headers, 'webhook-signature': `v1,${withNothing}` }
  t.match(
    standard.verify(empty, bytes, ['!!!!!!!!!!!!!!!!'], now),
    { ok: false },
    'never an empty key',
  )
})
