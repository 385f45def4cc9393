import t from 'tap'
import { startBillingApi } from '#dev/demo/billing-api.ts'
import { createUser } from '#dev/testing/people.ts'
import { applyEvent } from '#src/billing/process.ts'
import { createProviderApi } from '#src/billing/provider-api.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { openAsWorker, planOf, receive } from './received.ts'

const now = new Date('2026-11-21T12:00:00Z')

t.test('a state older than the applied one is ignored; a newer one is applied', async (t) => {
  const cases = [
    { name: 'older', first: 200, second: 100, applied: 'stale', plan: null },
    { name: 'equal', first: 200, second: 200, applied: 'stale', plan: null },
    { name: 'newer', first: 200, second: 201, applied: 'processed', plan: 'pro' },
    { name: 'without a time', first: 200, second: undefined, applied: 'processed', plan: 'pro' },
  ]
  const database = await createDatabase(t)
  const { db } = openAsWorker(t, database)
  for (const { name, first, second, applied, plan } of cases) {
    const customer = `cus_${name}`
    const { userId } = await createUser(database, { billingCustomer: customer })
    const object = (status: string) => ({ id: `sub_${name}`, customer, status })
    const type = 'customer.subscription.updated'
    await receive(database, {
      id: `${name}1`,
      type,
      created: first,
      object: object('canceled'),
    })
    await receive(database, {
      id: `${name}2`,
      type: 'subscription.created',
      ...(second !== undefined && { created: second }),
      object: object('active'),
    })
    t.equal(await applyEvent(db, `${name}1`, now), 'processed', name)
    t.equal(await applyEvent(db, `${name}2`, now), applied, name)
    t.equal(await planOf(database, userId), plan, name)
    const { rows } = await database.admin.query(
      'SELECT status, outcome FROM received_events WHERE event_id = $1',
      [`${name}2`],
    )
    t.same(rows, [{ status: 'processed', outcome: applied }], name)
  }
})

t.test(
  'of events of one second the creation is the oldest, and an end is the newest',
  async (t) => {
    const database = await createDatabase(t)
    const { db } = openAsWorker(t, database)
    const orders: [name: string, ...events: [verb: string, status: string, applied: string][]][] = [
      ['late-create', ['updated', 'active', 'processed'], ['created', 'incomplete', 'stale']],
      ['late-update', ['updated', 'canceled', 'processed'], ['updated', 'active', 'stale']],
      ['in-order', ['created', 'incomplete', 'processed'], ['updated', 'active', 'processed']],
      ['returns', ['updated', 'unpaid', 'processed'], ['updated', 'active', 'processed']],
    ]
    for (const [name, ...events] of orders) {
      const { userId } = await createUser(database, { billingCustomer: `cus_${name}` })
      for (const [index, [verb, status, applied]] of events.entries()) {
        const id = `${name}${index}`
        const object = { id: `sub_${name}`, customer: `cus_${name}`, status }
        await receive(database, { id, type: `subscription.${verb}`, created: 100, object })
        t.equal(await applyEvent(db, id, now), applied, id)
      }
      t.equal(await planOf(database, userId), name === 'late-update' ? null : 'pro', name)
    }
    t.equal(await applyEvent(db, 'in-order1', now, { again: true }), 'processed', 'its own state')
    t.equal(await applyEvent(db, 'in-order0', now, { again: true }), 'stale')
  },
)

t.test('an update before its create is applied, and the late create is stale', async (t) => {
  const database = await createDatabase(t)
  const { db } = openAsWorker(t, database)
  const { userId } = await createUser(database, { billingCustomer: 'cus_1' })
  const object = { id: 'sub_1', customer: 'cus_1' }
  await receive(database, {
    id: 'update',
    type: 'subscription.updated',
    created: 20,
    object: { ...object, status: 'active' },
  })
  await receive(database, {
    id: 'create',
    type: 'subscription.created',
    created: 10,
    object: { ...object, status: 'incomplete' },
  })
  t.equal(await applyEvent(db, 'update', now), 'processed')
  t.equal(await applyEvent(db, 'create', now), 'stale')
  t.equal(await planOf(database, userId), 'pro')
})

t.test(
  'charges have no order: an older one of the same object still creates its invoice',
  async (t) => {
    const database = await createDatabase(t)
    const { db } = openAsWorker(t, database)
    await createUser(database, { billingCustomer: 'cus_1' })
    for (const [id, created] of [
      ['a', 200],
      ['b', 100],
    ] as const) {
      const object = { id: 'ch_1', customer: 'cus_1', amount: 5, currency: 'eur' }
      await receive(database, { id, created, object })
      t.equal(await applyEvent(db, id, now), 'processed')
    }
    const { rows } = await database.admin.query('SELECT source_event FROM invoices ORDER BY 1')
    t.same(rows, [{ source_event: 'a' }, { source_event: 'b' }])
  },
)

t.test('with the billing API the current state applies, whatever the event contains', async (t) => {
  const database = await createDatabase(t)
  const { db } = openAsWorker(t, database)
  const sample = await startBillingApi('key')
  t.teardown(() => sample.stop())
  const api = createProviderApi({ url: sample.url, key: 'key' })
  const cases = [
    { name: 'active', state: 'active', event: 'canceled', applied: 'processed', plan: 'pro' },
    { name: 'canceled', state: 'canceled', event: 'active', applied: 'processed', plan: null },
    { name: 'gone', state: null, event: 'active', applied: 'gone', plan: null },
    { name: 'unknown', state: undefined, event: 'active', applied: 'processed', plan: 'pro' },
  ]
  for (const { name, state, event, applied, plan } of cases) {
    const { userId } = await createUser(database, { billingCustomer: `cus_${name}` })
    const object = { id: `sub-${name}`, customer: `cus_${name}` }
    if (state !== undefined)
      sample.put(object.id, state === null ? null : { ...object, status: state })
    await receive(database, {
      id: name,
      type: 'subscription.updated',
      created: 1,
      object: { ...object, status: event },
    })
    t.equal(await applyEvent(db, name, now, { api }), applied, name)
    t.equal(await planOf(database, userId), plan, name)
  }
})

t.test('an event that is processed again has its effect once', async (t) => {
  const database = await createDatabase(t)
  const { db } = openAsWorker(t, database)
  await createUser(database, { billingCustomer: 'cus_1' })
  const object = { id: 'ch_1', customer: 'cus_1', amount: 5, currency: 'eur' }
  await receive(database, { id: 'a', object })
  t.equal(await applyEvent(db, 'a', now), 'processed')
  t.equal(await applyEvent(db, 'a', now), 'already-processed')
  t.equal(await applyEvent(db, 'a', now, { again: true }), 'processed')
  const { rowCount } = await database.admin.query('SELECT FROM invoices')
  t.equal(rowCount, 1)
})

t.test('a kind that is not processed stays ignored', async (t) => {
  const database = await createDatabase(t)
  const { db } = openAsWorker(t, database)
  await receive(database, { id: 'a', type: 'invoice.voided', status: 'ignored' })
  t.equal(await applyEvent(db, 'a', now, { again: true }), 'ignored')
  const { rows } = await database.admin.query('SELECT status FROM received_events')
  t.same(rows, [{ status: 'ignored' }])
})

t.test('an event whose job is left from other settings is ignored and says why', async (t) => {
  const database = await createDatabase(t)
  const { db } = openAsWorker(t, database)
  await receive(database, { id: 'a', type: 'invoice.voided' })
  t.equal(await applyEvent(db, 'a', now), 'ignored')
  const { rows } = await database.admin.query('SELECT status, outcome FROM received_events')
  t.same(rows, [{ status: 'ignored', outcome: 'kind' }])
})
