import t from 'tap'
import { startTestApp, type TestPerson } from '#dev/testing/index.ts'
import { billingProviders } from '#src/config/billing.ts'

const shippingAddress = {
  ...{ name: 'Ada Okafor', line1: '2 Quay', city: 'Porto', postalCode: '4000-001', country: 'PT' },
}
const ada = { subject: 'ada', name: 'Ada Okafor', email: 'ada@acme.example' }

/** Creates an order and changes its address, which sends `order.updated`. */
async function changeOrder({ send }: TestPerson): Promise<number> {
  const lineItems = [{ sku: 'GATE', quantity: 1, unitPrice: 900 }]
  const facts = { currency: 'USD', cardLast4: '4242', shippingAddress, lineItems }
  const { body } = await send('POST', '/orders', facts)
  await send('PATCH', `/orders/${body.id}`, { shippingAddress })
  return body.id
}

t.test('a receiver gets the webhooks of its tenant alone, signed', async (t) => {
  const app = await startTestApp({ now: () => new Date('2026-03-02T12:00:00Z') })
  t.teardown(app.stop)
  const owner = await app.addPerson({ role: 'admin' })
  const stranger = await app.addPerson({ role: 'admin' })
  const viewer = await app.addPerson({ role: 'viewer' })
  await t.rejects(app.addReceiver(viewer), /The endpoint was not created: 403/)
  const receiver = await app.addReceiver(owner, ['order.updated'])
  const other = await app.addReceiver(stranger)
  const id = await changeOrder(stranger)
  t.match((await other.next()).body, { data: { id } })
  const own = await changeOrder(owner)
  t.match((await receiver.next()).body, { type: 'order.updated', data: { id: own } })

  const rotated = await owner.send(
    'POST',
    `/webhook-endpoints/${receiver.endpointId}/rotate-secret`,
    { overlapSeconds: 0 },
  )
  t.equal(rotated.status, 200)
  await changeOrder(owner)
  await t.rejects(receiver.next(), /is not signed as its endpoint says/)
})

t.test('a person of each role is in one tenant, and creates a row or says why not', async (t) => {
  const app = await startTestApp({ now: () => new Date('2026-03-02T12:00:00Z') })
  t.teardown(app.stop)
  const { viewer, admin } = await app.addPeople('viewer', 'admin')
  t.equal(viewer.tenantId, admin.tenantId)
  t.equal((await viewer.send('GET', '/me')).body.role, 'viewer')
  const post = { title: 'Opening hours', body: 'The gate opens at nine.' }
  const { id } = await admin.create('/posts', post)
  t.match((await viewer.send('GET', `/posts/${id}`)).body, { id, ...post })
  await t.rejects(viewer.create('/posts', post), /^POST \/posts got 403: /)
  await t.rejects(admin.create('/posts', { title: 'x' }), /^POST \/posts got 400: .*\/body/)
})

t.test('people sign in at a provider', async (t) => {
  const app = await startTestApp({ people: [ada] })
  t.teardown(app.stop)
  const first = await app.signIn('ada')
  const again = await app.signIn('ada')
  t.same([again.userId, again.tenantId], [first.userId, first.tenantId])
  t.match((await first.send('GET', '/me')).body, { user: { email: ada.email }, role: 'admin' })
  await t.rejects(app.signIn('mallory'), /The sign-in failed: 40/)
})

for (const provider of billingProviders) {
  t.test(`${provider}: a payment makes an invoice, once`, async (t) => {
    const app = await startTestApp({ settings: { BILLING_PROVIDER: provider } })
    t.teardown(app.stop)
    const { send } = await app.addPerson({ role: 'admin', billingCustomer: 'cus_1' })
    const payment = { id: 'evt_1', customer: 'cus_1', amount: 1_900 }
    const paid = await app.sendBillingEvent(payment)
    t.match(paid, { status: 200, body: 'recorded', event: { status: 'processed', error: null } })
    t.match(await app.sendBillingEvent(payment), { status: 200, body: 'duplicate' })
    t.match((await send('GET', '/invoices')).body.data, [{ amount: 1_900, currency: 'eur' }])
    const ofNobody = await app.sendBillingEvent({ customer: 'cus_2' })
    t.match(ofNobody.event, { status: 'unlinked' })
  })
}
