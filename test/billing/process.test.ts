import t, { type Test } from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { PoisonEvent } from '#src/billing/effect.ts'
import { completeJob, eventQueue } from '#src/billing/job.ts'
import { applyEvent, recordFailure } from '#src/billing/process.ts'
import type { Tx } from '#src/db/database.ts'
import { withoutScope } from '#src/db/entry.ts'
import { JobGone } from '#src/queue/enter-jobs.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { openPatiently } from '#test/support/database/open.ts'
import { enqueue, jobsOf, startQueue } from '#test/support/processes/running-worker.ts'
import { charge, invoicesOf, planOf, receive, stateOf } from './received.ts'

const now = new Date('2026-11-21T12:00:00Z')
const processed = { status: 'processed', attempts: 1, last_error: null }

/** Connections with the worker's role. */
async function open(t: Test) {
  const database = await createDatabase(t)
  const db = openPatiently(t, database.workerUrl, 4)
  return { database, db, apply: (eventId: string) => applyEvent(db, eventId, now) }
}

t.test('charge.succeeded creates exactly one invoice in the customer’s own tenant', async (t) => {
  const { database, apply } = await open(t)
  const customer = await createUser(database, { billingCustomer: 'cus_1' })
  await createUser(database, { billingCustomer: 'cus_2' })
  // Invoices go to the user's own tenant, whichever tenant is active.
  const team = await createUser(database)
  await database.admin.query(
    `INSERT INTO memberships (tenant_id, user_id, role) VALUES ($1, $2, 'viewer')`,
    [team.tenantId, customer.userId],
  )
  const eventId = await receive(database, { id: 'evt_1', type: 'charge.succeeded' })
  const both = await Promise.all([apply(eventId), apply(eventId)])
  t.strictSame(both.toSorted(), ['already-processed', 'processed'], 'two workers at once')
  t.equal(await apply(eventId), 'already-processed', 'and once more')
  t.strictSame(await invoicesOf(database), [
    {
      tenant_id: customer.tenantId,
      amount: '4900',
      currency: 'eur',
      status: 'paid',
      source_event: 'evt_1',
    },
  ])
  t.strictSame(await stateOf(database), processed)
  const second = await receive(database, { id: 'evt_2', type: 'customer.charge.succeeded' })
  t.equal(await apply(second), 'processed', 'the prefix `customer.` is accepted')
  t.equal((await invoicesOf(database)).length, 2, 'another event is another invoice')
})

t.test('the first activation sets the plan to `pro`', async (t) => {
  const { database, apply } = await open(t)
  const { userId } = await createUser(database, { billingCustomer: 'cus_1' })
  const other = await createUser(database, { billingCustomer: 'cus_2' })
  const plans = async () => {
    const { rows } = await database.admin.query('SELECT id, plan FROM users ORDER BY id')
    return rows.map(({ plan }) => plan)
  }
  const states = [
    ['subscription.created', 'trialing', null],
    ['subscription.updated', 'canceled', null],
    ['customer.subscription.updated', 'active', 'pro'],
    ['subscription.updated', 'active', 'pro'],
    ['subscription.updated', 'past_due', 'pro'],
    ['subscription.updated', 'canceled', null],
  ] as const
  for (const [index, [type, status, plan]] of states.entries()) {
    const object = { customer: 'cus_1', status }
    const eventId = await receive(database, { id: `evt_${index}`, type, object })
    t.equal(await apply(eventId), 'processed')
    t.strictSame(await plans(), [plan, null], `${type} ${status}`)
    t.strictSame(await stateOf(database, eventId), processed)
  }
  t.ok(userId < other.userId)
  t.strictSame(await invoicesOf(database), [])
})

t.test(
  'an event of an unknown customer waits without a retry until the customer is linked',
  async (t) => {
    const { database, apply } = await open(t)
    const eventId = await receive(database, { id: 'evt_1', type: 'charge.succeeded' })
    t.equal(await apply(eventId), 'unlinked')
    t.strictSame(await stateOf(database), { status: 'unlinked', attempts: 1, last_error: null })
    await createUser(database, { billingCustomer: 'cus_1' })
    t.equal(await apply(eventId), 'processed')
    t.equal((await invoicesOf(database)).length, 1)
  },
)

t.test('an event that can never be processed is poison and changes nothing', async (t) => {
  const { database, apply } = await open(t)
  await createUser(database, { billingCustomer: 'cus_1' })
  const objects = [{ ...charge, amount: 'much' }, { ...charge, currency: 'x' }, { amount: 1 }]
  for (const [index, object] of objects.entries()) {
    const id = await receive(database, { id: `evt_${index}`, type: 'charge.succeeded', object })
    await t.rejects(apply(id), PoisonEvent)
  }
  await t.rejects(
    apply(await receive(database, { id: 'evt_x', body: Buffer.from('no event') })),
    PoisonEvent,
  )
  t.strictSame(await invoicesOf(database), [])
  await database.admin.query(`UPDATE received_events SET body = NULL WHERE event_id = 'evt_x'`)
  await t.rejects(apply('evt_x'), { name: 'PoisonEvent', message: /body has been deleted/ })
  t.equal(await apply('evt_unheard_of'), 'missing')
})

t.test('an event that a standby has not replayed yet keeps its job', async (t) => {
  const { database, db, apply } = await open(t)
  await createUser(database, { billingCustomer: 'cus_1' })
  const eventId = await receive(database, { id: 'evt_1', type: 'charge.succeeded' })
  const behind = { ...db, read: async () => undefined as never }
  const settled: string[] = []
  const settle = async () => void settled.push(eventId)
  await t.rejects(applyEvent(behind, eventId, now, { settle }), /not found at first/)
  t.strictSame(settled, [])
  t.equal(await apply(eventId), 'processed')
})

t.test('an older state of a subscription on a standby decides nothing', async (t) => {
  const { database, db, apply } = await open(t)
  const { userId } = await createUser(database, { billingCustomer: 'cus_1' })
  const type = 'subscription.updated'
  const receiveState = (id: string, created: number, status: string) =>
    receive(database, { id, type, created, object: { id: 'sub_1', customer: 'cus_1', status } })
  const seenAs = (older: object | null) => ({
    ...db,
    read: (async (...args: Parameters<typeof db.read>) => {
      const found = await db.read(...args)
      return found instanceof Object && 'newestEvent' in found ? older : found
    }) as typeof db.read,
  })
  t.equal(await apply(await receiveState('evt_1', 100, 'trialing')), 'processed')
  const trialing = {
    customer: 'cus_1',
    status: 'trialing',
    newestCreated: 100,
    newestEvent: 'evt_1',
  }
  t.equal(await apply(await receiveState('evt_3', 300, 'canceled')), 'processed')

  const late = await receiveState('evt_2', 200, 'active')
  const elsewhere = { ...trialing, newestCreated: 300, newestEvent: 'evt_3', customer: 'cus_2' }
  for (const older of [trialing, null]) {
    await t.rejects(applyEvent(seenAs(older), late, now), /has changed since it was read/)
    t.equal(await planOf(database, userId), null)
    t.match(await stateOf(database, late), { status: 'recorded', attempts: 0 })
  }
  t.equal(await apply(late), 'stale')
  t.equal(await planOf(database, userId), null)
  const next = await receiveState('evt_4', 400, 'active')
  t.equal(await applyEvent(seenAs(elsewhere), next, now), 'processed', 'a customer it had before')
  t.equal(await planOf(database, userId), 'pro')
})

t.test('the effect and the status `processed` commit together', async (t) => {
  const { database, apply } = await open(t)
  await createUser(database, { billingCustomer: 'cus_1' })
  const eventId = await receive(database, { id: 'evt_1', type: 'charge.succeeded' })
  await database.admin.query(`ALTER TABLE invoices ADD CONSTRAINT cheap CHECK (amount < 4900)`)
  await t.rejects(apply(eventId))
  t.match(await stateOf(database), { status: 'recorded', attempts: 0 })
  await database.admin.query('ALTER TABLE invoices DROP CONSTRAINT cheap')
  t.equal(await apply(eventId), 'processed')
})

t.test('an event whose job another worker has changes nothing', async (t) => {
  const { database, db } = await open(t)
  await createUser(database, { billingCustomer: 'cus_1' })
  const queue = await startQueue(t, database, 'worker')
  await enqueue(database, { id: 'evt_1', type: 'charge.succeeded' }, { queue })
  const [job] = await queue.fetch(eventQueue)
  if (job === undefined) throw new Error('no job')
  const settle = (tx: Tx) => completeJob(tx, queue, job)
  await queue.fail(eventQueue, job)
  await database.admin.query('UPDATE pgboss.job SET start_after = now()')
  await t.rejects(applyEvent(db, 'evt_1', now, { settle }), JobGone, 'taken back')
  t.equal((await queue.fetch(eventQueue)).length, 1)
  await t.rejects(applyEvent(db, 'evt_1', now, { settle }), JobGone, 'in progress elsewhere')
  t.match(await stateOf(database), { status: 'recorded', attempts: 0 })
  t.strictSame(await invoicesOf(database), [])
  t.match(await jobsOf(database), { evt_1: { state: 'active' } })
})

t.test('a failure is recorded with its reason, but never replaces a success', async (t) => {
  const { database, db, apply } = await open(t)
  await createUser(database, { billingCustomer: 'cus_1' })
  const eventId = await receive(database, { id: 'evt_1', type: 'charge.succeeded' })
  const fail = (status: 'failed' | 'dead', reason: string) =>
    db.write(withoutScope, (tx) => recordFailure(tx, eventId, status, reason))
  await fail('failed', 'the reason')
  t.strictSame(await stateOf(database), {
    status: 'failed',
    attempts: 1,
    last_error: 'the reason',
  })
  await fail('dead', 'x'.repeat(10_000))
  t.match(await stateOf(database), { status: 'dead', last_error: 'x'.repeat(500) })
  t.equal(await apply(eventId), 'processed', 'a dead event can be processed again')
  await fail('dead', 'too late')
  t.match(await stateOf(database), { status: 'processed', last_error: null })
})
