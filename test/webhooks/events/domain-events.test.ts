import t, { type Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { applyEvent } from '#src/billing/process.ts'
import { exampleData } from '#src/webhooks/events/examples.ts'
import type { EventType } from '#src/webhooks/events/types.ts'
import { receive } from '#test/billing/received.ts'
import { buildAt, noon } from '#test/support/app/at-time.ts'
import { createOrder, createTestPost } from '#test/support/callers/objects.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { openPatiently } from '#test/support/database/open.ts'
import { untilBlocked } from '#test/support/database/until.ts'

/** Compares the published events with the examples of their types. */
async function matchExamples(t: Test, database: TestDatabase): Promise<void> {
  const ids = { userId: 1, tenantId: crypto.randomUUID(), endpointId: crypto.randomUUID() }
  for (const { type, data } of await eventsOf(database)) {
    t.strictSame(shapeOf(exampleData(type, ids, new Date(noon))), shapeOf(data), type)
  }
}

const shippingAddress = {
  name: 'Ada',
  line1: '2 Harbour Street',
  city: 'Porto',
  postalCode: '4000-001',
  country: 'PT',
}

t.test('a changed order publishes an event in the tenant it was placed in', async (t) => {
  const test = await buildAt(t)
  const { send, user } = await owner(test)
  const id = await createOrder(test.database, user)
  const { body } = await send('PATCH', `/orders/${id}`, { shippingAddress })
  t.match(await eventsOf(test.database), [
    { tenant_id: user.tenantId, type: 'order.updated', createdAt: noon, data: JSON.parse(body) },
  ])
  await matchExamples(t, test.database)
  await send('PATCH', `/orders/${id + 1}`, { shippingAddress })
  t.equal((await eventsOf(test.database)).length, 1, 'a foreign order publishes nothing')
})

t.test('and in no other tenant, whichever is active', async (t) => {
  const test = await buildAt(t)
  const { send, user } = await owner(test)
  const elsewhere = await createUser(test.database)
  await test.database.admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'viewer')`,
    [elsewhere.tenantId, user.userId],
  )
  const id = await createOrder(test.database, { ...user, tenantId: elsewhere.tenantId })
  t.equal((await send('PATCH', `/orders/${id}`, { shippingAddress })).statusCode, 200)
  t.match(await eventsOf(test.database), [{ tenant_id: elsewhere.tenantId, data: { id } }])
})

t.test('a changed and a deleted post publish events in their tenant', async (t) => {
  const test = await buildAt(t)
  const { send, user } = await owner(test, { role: 'admin' })
  const id = await createTestPost(test.database, user.tenantId, 'sales')
  const changed = await send('PATCH', `/posts/${id}`, { title: 'New' })
  await send('DELETE', `/posts/${id}`)
  await send('DELETE', `/posts/${id}`)
  t.match(await eventsOf(test.database), [
    { tenant_id: user.tenantId, type: 'post.updated', data: changed.json() },
    { tenant_id: user.tenantId, type: 'post.deleted', data: changed.json() },
  ])
  await matchExamples(t, test.database)
})

t.test('the event of a deleted post has the text that was deleted', async (t) => {
  const test = await buildAt(t)
  const { send, user } = await owner(test, { role: 'admin' })
  const id = await createTestPost(test.database, user.tenantId)
  const client = await test.database.admin.connect()
  try {
    await client.query('BEGIN')
    await client.query(`UPDATE posts SET title = 'Corrected' WHERE id = $1`, [id])
    const answer = send('DELETE', `/posts/${id}`)
    await untilBlocked(test.database)
    await client.query('COMMIT')
    t.equal((await answer).statusCode, 204)
  } finally {
    client.release()
  }
  t.match(await eventsOf(test.database), [{ type: 'post.deleted', data: { title: 'Corrected' } }])
})

t.test('an invoice and the first activation publish one event each', async (t) => {
  const database = await createDatabase(t)
  const db = openPatiently(t, database.workerUrl, 4)
  const { tenantId, userId } = await createUser(database, { billingCustomer: 'cus_1' })
  const object = { id: 'sub_1', customer: 'cus_1', status: 'active' }
  const ids = [
    await receive(database, { id: 'evt_1', type: 'charge.succeeded' }),
    await receive(database, { id: 'evt_2', type: 'subscription.created', object }),
    await receive(database, { id: 'evt_3', type: 'subscription.updated', object }),
  ]
  for (const id of ids) await applyEvent(db, id, new Date(noon))
  for (const id of ids) await applyEvent(db, id, new Date(noon), { again: true })
  t.match(await eventsOf(database), [
    {
      tenant_id: tenantId,
      type: 'invoice.created',
      createdAt: noon,
      data: { id: Number, tenantId, amount: 4900, currency: 'eur', status: 'paid' },
    },
    { tenant_id: tenantId, type: 'subscription.activated', data: { userId, plan: 'pro' } },
  ])
  t.equal((await eventsOf(database)).length, 2)
  await matchExamples(t, database)
})

/** The members of an event's data, and those of its objects and lists. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return [shapeOf(value[0])]
  if (value === null || typeof value !== 'object') return null
  const entries = Object.entries(value).map(([name, member]) => [name, shapeOf(member)] as const)
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

async function eventsOf({ admin }: TestDatabase) {
  const { rows } = await admin.query<{ tenant_id: string; type: EventType; body: string }>(
    'SELECT tenant_id, type, body FROM outbound_events ORDER BY sequence',
  )
  return rows.map(({ tenant_id, type, body }) => ({ ...JSON.parse(body), tenant_id, type }))
}
