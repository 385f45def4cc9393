import t from 'tap'
import { as, createUser, signIn } from '#dev/testing/people.ts'
import { build, type TestApp } from '#test/support/app/app.ts'
import { owner } from '#test/support/callers/token-owner.ts'

const post = { title: 'Opening hours', body: 'The gate opens at nine.' }
const full = { type: '/docs/errors/quota-exceeded', status: 409 }

t.test('a tenant sees what it stores and may store, and only its own', async (t) => {
  const test = await build(t, { QUOTA_RESOURCES: '10/1', QUOTA_EVENTS: 'off' })
  const { send } = await owner(test, { role: 'admin' })
  const other = await owner(test, { role: 'admin' })
  await send('POST', '/posts', post)
  const used = (rows: number, bytes: number) => ({
    resources: { rows, bytes, maxRows: 10, maxBytes: 1_048_576 },
    events: { rows: 0, bytes: 0, maxRows: null, maxBytes: null },
  })
  t.strictSame((await send('GET', '/usage')).json(), used(1, 36 + 2 * 180))
  t.strictSame((await other.send('GET', '/usage')).json(), used(0, 0))
  const page = await test.app.inject({
    url: '/app/tenant',
    headers: {
      cookie: (await signIn(test, await createUser(test.database, { role: 'admin' }))).cookie,
    },
  })
  t.match(page.body, /0 of 10 rows, 0 KiB of 1 MiB/)
})

t.test('what exceeds the budget of resources is refused with nothing stored', async (t) => {
  const test = await build(t, { QUOTA_RESOURCES: '2/1' })
  const { send } = await owner(test, { role: 'admin' })
  const first = (await send('POST', '/posts', post)).json()
  t.equal((await send('POST', '/teams', { name: 'Gate' })).statusCode, 201)
  for (const [path, body] of [
    ['/posts', post],
    ['/teams', { name: 'Second' }],
    ['/users', { email: 'new@acme.example', role: 'viewer' }],
  ] as const) {
    const refused = await send('POST', path, body)
    t.match(refused.json(), full, path)
    t.equal(refused.headers['retry-after'], undefined, 'waiting does not help')
  }
  t.equal((await send('GET', '/posts')).json().data.length, 1)
  t.equal((await send('GET', '/usage')).json().resources.rows, 2)
  t.match(await refusals(test), { reason: 'resources', count: 3 })

  t.equal((await send('DELETE', `/posts/${first.id}`)).statusCode, 204)
  t.equal((await send('POST', '/posts', post)).statusCode, 201, 'there is room again')
})

t.test('texts that grow beyond the budget are refused, texts that shrink are not', async (t) => {
  const test = await build(t)
  const { send } = await owner(test, { role: 'admin' })
  await test.database.admin.query('UPDATE tenant_usage SET max_resource_bytes = 280')
  const large = { title: 'Large', body: 'x'.repeat(80) }
  const { id } = (await send('POST', '/posts', large)).json()
  t.match((await send('POST', '/posts', large)).json(), full)
  t.match((await send('PATCH', `/posts/${id}`, { body: 'x'.repeat(96) })).json(), full)
  t.equal((await send('PATCH', `/posts/${id}`, { body: 'x'.repeat(95) })).statusCode, 200)
  await test.database.admin.query('UPDATE tenant_usage SET max_resource_bytes = 10')
  t.equal((await send('PATCH', `/posts/${id}`, { body: 'x'.repeat(94) })).statusCode, 200)
})

t.test(
  'beyond the budget of events a change is refused with its event, a deletion is not',
  async (t) => {
    const test = await build(t, { QUOTA_EVENTS: '1/1' })
    const { send } = await owner(test, { role: 'admin' })
    const { id } = (await send('POST', '/posts', post)).json()
    t.equal((await send('PATCH', `/posts/${id}`, { title: 'First' })).statusCode, 200)
    t.match((await send('PATCH', `/posts/${id}`, { title: 'Second' })).json(), full)
    t.equal((await send('GET', `/posts/${id}`)).json().title, 'First')
    t.match(await refusals(test), { reason: 'events', count: 1 })
    t.equal((await send('DELETE', `/posts/${id}`)).statusCode, 204)
    t.equal((await send('GET', '/usage')).json().events.rows, 2, 'its event is stored')
  },
)

t.test('the event of an order counts for the tenant that it was placed in', async (t) => {
  const test = await build(t, { QUOTA_EVENTS: '1/1' })
  const { send, user } = await owner(test, { role: 'admin' })
  const order = {
    lineItems: [{ sku: 'GATE-OAK-200', quantity: 1, unitPrice: 45_900 }],
    shippingAddress: {
      name: 'Ada',
      line1: '1 Harbour Street',
      city: 'Lisbon',
      postalCode: '1100-012',
      country: 'PT',
    },
    cardLast4: '4242',
  }
  const { id } = (await send('POST', '/orders', order)).json()
  const { tenantId } = await createUser(test.database, { role: 'admin' })
  await test.database.admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'admin')`,
    [tenantId, user.userId],
  )
  const { cookie } = await signIn(test, { userId: user.userId, tenantId })
  const elsewhere = as(test, { cookie })
  const { shippingAddress } = order
  t.equal((await elsewhere('PATCH', `/orders/${id}`, { shippingAddress })).statusCode, 200)
  t.match((await elsewhere('PATCH', `/orders/${id}`, { shippingAddress })).json(), full)
  t.equal((await elsewhere('GET', '/usage')).json().events.rows, 0)
  t.equal((await send('GET', '/usage')).json().events.rows, 1)
})

/** What the metric counts of refusals with this code. */
async function refusals({ app }: TestApp) {
  const counted = await app.metrics.registry.getSingleMetric('gatehouse_refusals_total')?.get()
  const value = counted?.values.find(({ labels }) => labels.code === 'quota-exceeded')
  return { reason: value?.labels.reason, count: value?.value }
}
