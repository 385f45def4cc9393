import t from 'tap'
import { comparable } from '#dev/testing/access/request.ts'
import { createUser, signIn } from '#dev/testing/people.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { edgeIds } from '#test/support/app/probes.ts'
import { createOrder } from '#test/support/callers/objects.ts'

const shippingAddress = {
  name: 'Ada Okafor',
  line1: '2 Quay',
  city: 'Porto',
  postalCode: '4000-001',
  country: 'PT',
}

t.test('an order is read and changed by its owner', async (t) => {
  const { test, cookie, orderId, user } = await ownOrder(t)
  const url = `/orders/${orderId}`
  const read = await test.app.inject({ url, headers: { cookie } })
  t.equal(read.statusCode, 200)
  t.match(read.json(), { id: orderId, userId: user.userId, cardLast4: '4242' })
  t.notOk('tenantId' in read.json(), 'only the fields of the contract are returned')

  const changed = await patch(test, cookie, url, { shippingAddress })
  t.equal(changed.statusCode, 200)
  t.strictSame(changed.json().shippingAddress, shippingAddress)
  t.strictSame((await test.app.inject({ url, headers: { cookie } })).json(), changed.json())
})

t.test(
  'an order of another user, even in the same tenant, is the same 404 as a missing one',
  async (t) => {
    const { test, orderId, user } = await ownOrder(t)
    const colleague = await createUser(test.database, { role: 'admin', tenantId: user.tenantId })
    const stranger = await createUser(test.database, { role: 'admin' })
    for (const other of [colleague, stranger]) {
      const { cookie } = await signIn(test, other)
      const foreign = await test.app.inject({ url: `/orders/${orderId}`, headers: { cookie } })
      const missing = await test.app.inject({ url: '/orders/987654321', headers: { cookie } })
      t.equal(foreign.statusCode, 404)
      t.strictSame(comparable(foreign), comparable(missing))
      const body = { shippingAddress }
      const changed = await patch(test, cookie, `/orders/${orderId}`, body)
      t.equal(changed.statusCode, 404)
      t.strictSame(comparable(changed), comparable(missing))
    }
    const { rows } = await test.database.admin.query('SELECT shipping_address FROM orders')
    t.equal(rows[0]?.shipping_address.city, 'Lisbon', 'nothing was changed')
  },
)

t.test('ids at the limits', async (t) => {
  const { test, cookie } = await ownOrder(t)
  for (const [id, status] of edgeIds) {
    const response = await test.app.inject({ url: `/orders/${id}`, headers: { cookie } })
    t.equal(response.statusCode, status, id)
  }
})

t.test('only the shipping address can be changed', async (t) => {
  const { test, cookie, orderId } = await ownOrder(t)
  const url = `/orders/${orderId}`
  const { city, ...withoutCity } = shippingAddress
  const bodies: [string, unknown][] = [
    ['no body', undefined],
    ['empty', {}],
    ['an owner', { shippingAddress, userId: 1 }],
    ['a tenant', { shippingAddress, tenantId: crypto.randomUUID() }],
    ['an id', { shippingAddress, id: 1 }],
    ['contents', { shippingAddress, lineItems: [] }],
    [
      'a prototype',
      JSON.parse(`{"shippingAddress":${JSON.stringify(shippingAddress)},"__proto__":{"a":1}}`),
    ],
    ['an unknown field inside', { shippingAddress: { ...shippingAddress, userId: 1 } }],
    [`no ${city}`, { shippingAddress: withoutCity }],
    ['a number for a text', { shippingAddress: { ...shippingAddress, city: 5 } }],
    ['a blank text', { shippingAddress: { ...shippingAddress, city: '  ' } }],
    ['a long text', { shippingAddress: { ...shippingAddress, city: 'x'.repeat(201) } }],
    ['an invalid country', { shippingAddress: { ...shippingAddress, country: 'Portugal' } }],
    ['a NUL', { shippingAddress: { ...shippingAddress, city: 'a\u0000b' } }],
    ['half a character', { shippingAddress: { ...shippingAddress, city: 'a\ud800' } }],
    ['an array', [shippingAddress]],
  ]
  for (const [name, body] of bodies) {
    t.equal((await patch(test, cookie, url, body)).statusCode, 400, name)
  }
  const read = await test.app.inject({ url, headers: { cookie } })
  t.equal(read.json().shippingAddress.city, 'Lisbon', 'nothing was changed')
})

t.test('a user without a tenant has orders but no invoices', async (t) => {
  const test = await build(t)
  const user = await createUser(test.database)
  const orderId = await createOrder(test.database, user)
  const headers = await signIn(test, { userId: user.userId, tenantId: null })
  t.equal((await test.app.inject({ url: `/orders/${orderId}`, headers })).statusCode, 200)
  t.equal((await test.app.inject({ url: '/invoices/1', headers })).statusCode, 403)
})

async function ownOrder(t: Tap) {
  const test = await build(t)
  const user = await createUser(test.database)
  const orderId = await createOrder(test.database, user)
  const { cookie } = await signIn(test, user)
  return { test, user, orderId, cookie }
}

type Tap = Parameters<typeof build>[0]

function patch({ app }: TestApp, cookie: string, url: string, body: unknown) {
  return app.inject({
    method: 'PATCH',
    url,
    headers: { cookie, 'content-type': 'application/json' },
    payload: JSON.stringify(body) ?? '',
  })
}
