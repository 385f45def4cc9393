import t from 'tap'
import { PoisonEvent } from '#src/billing/effect.ts'
import { kindOf, signed } from '#src/billing/providers/signed.ts'

const parseEvent = (body: Uint8Array) => signed.parse({}, body)
const parse = (value: unknown) =>
  parseEvent(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)))

t.test('an event is JSON with a string `id` and a string `type`', async (t) => {
  const event = {
    id: 'evt_1',
    type: 'charge.succeeded',
    created: 1614265330,
    data: { object: { id: 'ch_1', customer: 'cus_1' } },
  }
  t.strictSame(parse(event), {
    id: 'evt_1',
    type: 'charge.succeeded',
    created: 1614265330,
    kind: 'payment',
    ignored: null,
    object: { id: 'ch_1', customer: 'cus_1' },
    objectId: 'ch_1',
    isState: false,
    isThin: false,
    related: null,
  })
  const bare = {
    id: 'evt_1',
    type: 'x',
    created: null,
    kind: null,
    ignored: 'kind',
    object: {},
    objectId: null,
    isState: false,
    isThin: false,
    related: null,
  }
  t.strictSame(parse({ id: 'evt_1', type: 'x' }), bare, 'no other field is required')
  for (const rest of [{ data: null }, { data: [] }, { data: { object: 'x' } }, { created: '1' }]) {
    t.strictSame(parse({ id: 'evt_1', type: 'x', ...rest }), bare, JSON.stringify(rest))
  }
})

t.test('the id has 1 to 255 printable characters', async (t) => {
  for (const id of ['x', 'x'.repeat(255), 'évt — 1', '日本', '😀'.repeat(255)]) {
    t.match(parse({ id, type: 'x' }), { id }, `${id.length} characters`)
  }
  const refused = [
    '',
    'x'.repeat(256),
    'a\nb',
    'a\0',
    'a\u007f',
    '\u2028',
    '\u200b',
    '\ufeff',
    '\ud800',
  ]
  for (const id of refused) {
    const codes = Array.from(id.slice(0, 3), (character) => character.codePointAt(0))
    t.equal(parse({ id, type: 'x' }), null, `characters ${codes.join(' ')}, ${id.length} in all`)
  }
  for (const id of [undefined, null, 1, true, ['x'], { x: 1 }]) {
    t.equal(parse({ id, type: 'x' }), null, JSON.stringify(id))
    t.equal(parse({ id: 'x', type: id }), null, `type ${JSON.stringify(id)}`)
  }
  t.equal(parse({ id: 'x', type: 'a\0b' }), null, 'a type that PostgreSQL cannot store')
})

t.test('bytes that are not JSON in UTF-8 are not an event', async (t) => {
  const valid = '{"id":"evt_1","type":"x"}'
  const texts = [
    '',
    ' ',
    'null',
    '1',
    '"x"',
    '[]',
    `[${valid}]`,
    '{',
    `${valid}}`,
    `${valid}${valid}`,
  ]
  for (const text of [...texts, `\ufeff${valid}`, `${valid}\0`, `{'id':'x'}`]) {
    t.equal(parse(text), null, JSON.stringify(text))
  }
  t.match(parseEvent(Buffer.from(valid.replace('x', '\xff'), 'utf8')), { type: 'ÿ' })
  t.equal(parseEvent(Buffer.from(valid.replace('x', '\xff'), 'latin1')), null)
  t.equal(parseEvent(Buffer.from(valid, 'utf16le')), null)
})

t.test('duplicate keys and keys like `__proto__` are harmless', async (t) => {
  t.match(parse('{"id":"a","id":"b","type":"x"}'), { id: 'b' }, 'the last value counts')
  t.equal(parse('{"__proto__":{"id":"a","type":"x"}}'), null)
  t.equal(parse('{"constructor":{"prototype":{"id":"a"}},"type":"x"}'), null)
  const nested = parse('{"id":"a","type":"x","data":{"object":{"__proto__":{"customer":"c"}}}}')
  t.equal(nested?.object.customer, undefined)
  t.notOk('customer' in {}, 'the prototype is unchanged')
})

t.test('the kinds that are processed, with and without the prefix `customer.`', async (t) => {
  for (const [type, kind] of [
    ['charge.succeeded', 'payment'],
    ['subscription.created', 'subscription'],
    ['subscription.updated', 'subscription'],
  ] as const) {
    t.equal(kindOf(type), kind)
    t.equal(kindOf(`customer.${type}`), kind)
  }
  const others = [
    'charge.failed',
    'charge.customer.succeeded',
    'subscription.deleted',
    'customer.',
    'customer.customer.charge.succeeded',
  ]
  for (const type of [
    ...others,
    'Charge.succeeded',
    'charge.succeeded ',
    'x.charge.succeeded',
    'toString',
  ]) {
    t.equal(kindOf(type), null, type)
  }
})

type Contents = Record<string, unknown>
const charge = { customer: 'cus_1', amount: 4900, currency: 'EUR' }

function effect(type: string, object: Contents) {
  const event = parse({ id: 'evt_1', type, data: { object } })
  if (event === null) throw new Error('no event')
  return signed.effectOf(event, event.object)
}

t.test('charge.succeeded is a payment, whose invoice is that of the event', async (t) => {
  const invoice = {
    kind: 'payment',
    customer: 'cus_1',
    payment: null,
    amount: 4900,
    currency: 'eur',
    digits: 2,
    refunded: null,
  }
  t.strictSame(effect('charge.succeeded', charge), invoice)
  t.strictSame(effect('customer.charge.succeeded', charge), invoice)
  t.match(effect('charge.succeeded', { ...charge, amount: 0 }), { amount: 0 })
})

t.test('a subscription has one of the known states; any other text has no effect', async (t) => {
  for (const type of ['subscription.created', 'customer.subscription.updated']) {
    for (const status of ['active', 'past_due', 'canceled', 'unpaid', 'paused']) {
      t.strictSame(effect(type, { customer: 'cus_1', status }), {
        kind: 'subscription',
        customer: 'cus_1',
        state: { status, prices: [], periodEnd: null, cancelsAt: null },
        details: null,
      })
    }
    for (const status of ['trialing', 'ACTIVE', '', null, undefined, true]) {
      t.strictSame(effect(type, { customer: 'cus_1', status }), { kind: 'none' }, String(status))
    }
  }
  t.strictSame(effect('charge.failed', charge), { kind: 'none' }, 'a kind that is not processed')
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
