import t from 'tap'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { build } from '#test/support/app/app.ts'
import { buildAt, noon } from '#test/support/app/at-time.ts'
import { badPageQueries, pagesOf, smuggling } from '#test/support/app/probes.ts'
import { createOrder } from '#test/support/callers/objects.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { untilBlocked } from '#test/support/database/until.ts'

/** For the tests that look at tenants of their own only. */
const test = await build(t)

const orderKeys = [
  'id',
  'userId',
  'currency',
  'lineItems',
  'shippingAddress',
  'cardLast4',
  'createdAt',
  'updatedAt',
]
const lineItem = { sku: 'GATE-OAK-200', quantity: 2, unitPrice: 45_900 }
const shippingAddress = {
  name: 'Ada Okafor',
  line1: '2 Quay',
  city: 'Porto',
  postalCode: '4000-001',
  country: 'PT',
}
const order = { currency: 'CHF', lineItems: [lineItem], shippingAddress, cardLast4: '0042' }

t.test('the currency of an order is that of the setting, unless the body names one', async (t) => {
  const { currency: _, ...rest } = order
  const test = await build(t, { CURRENCY: 'JPY' })
  const { send } = await owner(test)
  t.equal((await send('POST', '/orders', rest)).json().currency, 'JPY')
  const named = await send('POST', '/orders', order)
  t.equal(named.json().currency, 'CHF')
  const { body: list } = await send('GET', '/app/orders')
  for (const total of ['91,800 JPY', '918.00 CHF']) t.match(list, total)
  for (const currency of ['chf', 'ABC', 'XXX', '', ' CHF', 'CHFX', null, 5]) {
    const refused = await send('POST', '/orders', { ...order, currency })
    t.equal(refused.statusCode, 400, JSON.stringify(currency))
  }
  const { detail } = (await send('POST', '/orders', { ...order, currency: 'ABC' })).json()
  t.match(detail, 'must be a currency code of ISO 4217, such as EUR')
  const change = await send('PATCH', `/orders/${named.json().id}`, { currency: 'EUR' })
  t.equal(change.statusCode, 400, 'an order keeps its currency')
})

t.test('an order belongs to its author, in their active tenant', async (t) => {
  const test = await buildAt(t)
  const { user, send } = await owner(test)
  const made = await send('POST', '/orders', order)
  t.equal(made.statusCode, 201)
  const { id } = made.json()
  const times = { createdAt: noon, updatedAt: noon }
  t.strictSame(made.json(), { id, userId: user.userId, ...order, ...times })
  t.strictSame((await send('GET', `/orders/${id}`)).json(), made.json())
  const { rows } = await test.database.admin.query('SELECT tenant_id FROM orders')
  t.strictSame(rows, [{ tenant_id: user.tenantId }])
  const colleague = await owner(test, { role: 'admin', tenantId: user.tenantId })
  t.equal((await colleague.send('GET', `/orders/${id}`)).statusCode, 404)
  t.strictSame((await colleague.send('GET', '/orders')).json().data, [])
})

t.test('without an active tenant no order can be placed', async (t) => {
  const { userId } = await createUser(test.database)
  const send = as(test, await signIn(test, { userId, tenantId: null }))
  t.equal((await send('POST', '/orders', order)).statusCode, 403)
  t.equal((await send('GET', '/orders')).statusCode, 200)
  t.equal((await as(test, {})('POST', '/orders', order)).statusCode, 401)
})

t.test('a body with unlisted or invalid fields is 400 and places nothing', async (t) => {
  const { sendText } = await owner(test)
  const create = (body: string) => sendText('POST', '/orders', body)
  for (const [name, body] of smuggling(order)) {
    t.equal((await create(body)).statusCode, 400, name)
  }
  for (const [name, body] of smuggling(lineItem)) {
    const text = JSON.stringify({ ...order, lineItems: [] }).replace('[]', () => `[${body}]`)
    t.equal((await create(text)).statusCode, 400, `${name} in a line item`)
  }
  const item = (change: object) => ({ lineItems: [{ ...lineItem, ...change }] })
  const malformed: [string, object][] = [
    ['no line items', { lineItems: [] }],
    ['101 line items', { lineItems: Array(101).fill(lineItem) }],
    ['line items that are no list', { lineItems: lineItem }],
    ['a quantity of 0', item({ quantity: 0 })],
    ['a negative quantity', item({ quantity: -1 })],
    ['half a thing', item({ quantity: 0.5 })],
    ['a quantity as text', item({ quantity: '1' })],
    ['a quantity beyond the limit', item({ quantity: 10_001 })],
    ['a negative price', item({ unitPrice: -1 })],
    ['a fraction of a minor unit', item({ unitPrice: 0.1 })],
    ['a price beyond the limit', item({ unitPrice: 1_000_000_001 })],
    ['no sku', item({ sku: '' })],
    ['a long sku', item({ sku: 'x'.repeat(101) })],
    ['three digits', { cardLast4: '424' }],
    ['a whole card number', { cardLast4: '4242424242424242' }],
    ['digits that are none', { cardLast4: '424a' }],
    ['digits of another script', { cardLast4: '٤٢٤٢' }],
    ['a line break', { cardLast4: '4242\n' }],
    ['a number', { cardLast4: 4242 }],
    ['an address without a city', { shippingAddress: { ...shippingAddress, city: undefined } }],
  ]
  for (const [name, change] of malformed) {
    t.equal((await create(JSON.stringify({ ...order, ...change }))).statusCode, 400, name)
  }
  for (const left of Object.keys(order).filter((key) => key !== 'currency')) {
    const text = JSON.stringify({ ...order, [left]: undefined })
    t.equal((await create(text)).statusCode, 400, `no ${left}`)
  }
  t.equal((await test.database.admin.query('SELECT FROM orders')).rowCount, 0)
  const full = { sku: 'x', quantity: 10_000, unitPrice: 1_000_000_000 }
  const most = JSON.stringify({ ...order, lineItems: Array(100).fill(full) })
  t.equal((await create(most)).statusCode, 201)
})

t.test(
  'the list has the user’s orders, newest first, and new rows do not shift pages',
  async (t) => {
    const { user, send } = await owner(test)
    const colleague = await createUser(test.database, { tenantId: user.tenantId })
    const ids: number[] = []
    for (const _ of Array.from({ length: 5 })) {
      ids.unshift(await createOrder(test.database, user))
      await createOrder(test.database, colleague)
    }
    const pages = await pagesOf(send, '/orders', () => createOrder(test.database, user))
    const listed = pages.flatMap(({ data }) => data)
    t.strictSame(
      listed.map(({ id }) => id),
      ids,
    )
    for (const one of listed) t.strictSame(Object.keys(one), orderKeys)
    // Orders are listed over all tenants of their owner, so a tenant is a filter here.
    for (const query of badPageQueries.filter((one) => !one.startsWith('tenantId='))) {
      t.equal((await send('GET', `/orders?${query}`)).statusCode, 400, query)
    }
    const { tenantId } = await createUser(test.database)
    await test.database.admin.query(
      `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'viewer')`,
      [tenantId, user.userId],
    )
    const elsewhere = as(test, await signIn(test, { ...user, tenantId }))
    t.equal((await elsewhere('GET', '/orders')).json().data.length, 8, 'in any active tenant')
  },
)

t.test('a token places and lists orders if it names the permission', async (t) => {
  const { make } = await owner(test)
  const cases: [string[] | null, number, number][] = [
    [null, 200, 201],
    [['order:read'], 200, 403],
    [['order:write'], 403, 201],
    [['invoice:read'], 403, 403],
  ]
  for (const [permissions, list, place] of cases) {
    const { use } = await make(permissions === null ? {} : { permissions })
    t.equal((await use('GET', '/orders')).statusCode, list, `${permissions}`)
    t.equal((await use('POST', '/orders', order)).statusCode, place, `${permissions}`)
  }
})

t.test('a user who is removed during the request gets the answer of a new one', async (t) => {
  const test = await build(t)
  const { user, send } = await owner(test, { role: 'editor' })
  const { admin } = test.database
  const removal = await admin.connect()
  await removal.query('BEGIN')
  await removal.query('DELETE FROM users WHERE id = $1', [user.userId])
  const writing = [
    send('POST', '/posts', { title: 'x', body: 'x' }),
    send('POST', '/orders', order),
  ]
  await untilBlocked(test.database, writing.length)
  await removal.query('COMMIT')
  removal.release()
  const fresh = await send('POST', '/orders', order)
  for (const answer of await Promise.all(writing)) {
    t.equal(answer.statusCode, 401)
    t.strictSame(withoutInstance(answer), withoutInstance(fresh))
  }
  for (const table of ['posts', 'orders']) {
    t.equal((await admin.query(`SELECT FROM ${table}`)).rowCount, 0, table)
  }
})

function withoutInstance(answer: { json(): object }): object {
  return { ...answer.json(), instance: undefined }
}
