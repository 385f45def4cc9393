import t, { type Test } from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { build } from '#test/support/app/app.ts'
import { createOrder } from '#test/support/callers/objects.ts'

const form = { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' }
const address = 'name=Ada&line1=2+Quay&line2=&city=%3Cb%3EPorto&postalCode=4000&country=PT'

async function setUp(t: Test) {
  const test = await build(t)
  const user = await createUser(test.database)
  const id = await createOrder(test.database, user)
  const { cookie } = await signIn(test, user)
  const headers = { ...form, cookie }
  const addressOf = async (order: number) =>
    (await test.database.admin.query('SELECT shipping_address FROM orders WHERE id = $1', [order]))
      .rows[0]?.shipping_address
  return {
    test,
    id,
    addressOf,
    open: (url: string) => test.app.inject({ url, headers }),
    send: (order: number, payload: string, more: Record<string, string> = {}) =>
      test.app.inject({
        method: 'POST',
        url: `/app/orders/${order}/address`,
        headers: { ...headers, ...more },
        payload,
      }),
  }
}

t.test('the user’s own order is shown, and a form changes its address', async (t) => {
  const { id, open, send, addressOf } = await setUp(t)
  t.match((await open('/')).body, `href="/app/orders/${id}"`)
  const page = await open(`/app/orders/${id}`)
  t.equal(page.statusCode, 200)
  t.equal(page.headers['cache-control'], 'no-store')
  t.match(page.body, '1 Harbour Street')
  t.match(page.body, '9.00 EUR')
  const sent = await send(id, address)
  t.equal(sent.statusCode, 303)
  t.equal(sent.headers.location, `/app/orders/${id}?done=changed`)
  t.same(await addressOf(id), {
    name: 'Ada',
    line1: '2 Quay',
    city: '<b>Porto',
    postalCode: '4000',
    country: 'PT',
  })
  const after = await open(`/app/orders/${id}?done=changed`)
  t.match(after.body, 'Address saved.')
  t.match(after.body, '&lt;b&gt;Porto')
  t.notMatch(after.body, '<b>Porto')
})

t.test('a page names every refused field, and nothing is changed', async (t) => {
  const { id, send, addressOf } = await setUp(t)
  const before = await addressOf(id)
  const wrong = address.replace('city=%3Cb%3EPorto&postalCode=4000', 'city=&postalCode=')
  const { statusCode, body } = await send(id, `${wrong}&%3Ci%3E=1`)
  t.equal(statusCode, 400)
  t.match(body, '<b><bdi>City</bdi></b> must not be empty.')
  t.match(body, '<b><bdi>Postal code</bdi></b> must not be empty.')
  t.match(body, '<b><bdi>&lt;i&gt;</bdi></b> is not a known field.')
  t.same(await addressOf(id), before)
})

t.test('missing and foreign orders are the same 404, also within the tenant', async (t) => {
  const { test, id, open, send, addressOf } = await setUp(t)
  const { rows } = await test.database.admin.query('SELECT tenant_id FROM orders')
  const colleague = await createUser(test.database, { tenantId: rows[0].tenant_id })
  const theirs = await createOrder(test.database, colleague)
  const before = await addressOf(theirs)
  for (const foreign of [theirs, id + 1_000]) {
    t.equal((await open(`/app/orders/${foreign}`)).statusCode, 404)
    t.equal((await send(foreign, address)).statusCode, 404)
  }
  t.same(await addressOf(theirs), before)
  t.equal((await test.app.inject(`/app/orders/${id}`)).statusCode, 401)
})

t.test('an invalid form is a 400, a cross-site form a 403', async (t) => {
  const { id, send, addressOf } = await setUp(t)
  const before = await addressOf(id)
  for (const bad of [
    '',
    address.replace('PT', 'Portugal'),
    address.replace('name=Ada', 'name='),
    `${address}&cardLast4=1111`,
    `${address}&city=Twice`,
  ]) {
    t.equal((await send(id, bad)).statusCode, 400, bad)
  }
  t.equal((await send(id, address, { 'sec-fetch-site': 'cross-site' })).statusCode, 403)
  t.same(await addressOf(id), before)
})
