import t from 'tap'
import { kindOf, parseEvent } from '#src/billing/event.ts'

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
    object: { id: 'ch_1', customer: 'cus_1' },
  })
  const bare = { id: 'evt_1', type: 'x', created: null, object: {} }
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
  for (const kind of ['charge.succeeded', 'subscription.created', 'subscription.updated']) {
    t.equal(kindOf(kind), kind)
    t.equal(kindOf(`customer.${kind}`), kind)
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
