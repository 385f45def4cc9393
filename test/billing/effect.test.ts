import t from 'tap'
import { decideEffect, PoisonEvent } from '#src/billing/effect.ts'

type Contents = Record<string, unknown>
const effect = (type: string, object: Contents) =>
  decideEffect({ id: 'evt_1', type, created: null, object })
const charge = { customer: 'cus_1', amount: 4900, currency: 'EUR' }

t.test('charge.succeeded creates an invoice', async (t) => {
  const invoice = { kind: 'create-invoice', customer: 'cus_1', amount: 4900, currency: 'eur' }
  t.strictSame(effect('charge.succeeded', charge), invoice)
  t.strictSame(effect('customer.charge.succeeded', charge), invoice)
  t.match(effect('charge.succeeded', { ...charge, amount: 0 }), { amount: 0 })
})

t.test('an active subscription activates the plan, any other has no effect', async (t) => {
  for (const type of ['subscription.created', 'customer.subscription.updated']) {
    const active = { customer: 'cus_1', status: 'active' }
    t.strictSame(effect(type, active), { kind: 'activate', customer: 'cus_1' })
    for (const status of ['trialing', 'canceled', 'ACTIVE', '', null, undefined, true]) {
      t.strictSame(effect(type, { ...active, status }), { kind: 'none' }, String(status))
    }
  }
})

t.test('a kind that is not processed has no effect', async (t) => {
  t.strictSame(effect('charge.failed', charge), { kind: 'none' })
})

t.test('an object without a required field is poison', async (t) => {
  const poison: [string, Contents, RegExp][] = [
    ['charge.succeeded', {}, /customer is missing/],
    ['charge.succeeded', { ...charge, customer: '' }, /customer/],
    ['charge.succeeded', { ...charge, customer: { id: 'cus_1' } }, /customer/],
    ['charge.succeeded', { ...charge, customer: 'a\0b' }, /customer has characters/],
    ['charge.succeeded', { ...charge, customer: 'a\ud800' }, /customer has characters/],
    ['charge.succeeded', { ...charge, amount: '4900' }, /amount/],
    ['charge.succeeded', { ...charge, amount: 49.5 }, /amount/],
    ['charge.succeeded', { ...charge, amount: -1 }, /amount/],
    ['charge.succeeded', { ...charge, amount: 2 ** 53 }, /amount/],
    ['charge.succeeded', { ...charge, currency: 'euro' }, /currency/],
    ['charge.succeeded', { ...charge, currency: 978 }, /currency/],
    ['subscription.updated', { status: 'active' }, /customer/],
  ]
  for (const [type, object, message] of poison) {
    t.throws(() => effect(type, object), { message }, `${type} ${JSON.stringify(object)}`)
    t.throws(() => effect(type, object), PoisonEvent)
  }
})
