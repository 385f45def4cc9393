import t, { type Test } from 'tap'
import type { Database } from '#src/db/database.ts'
import { loneRoom } from '#src/webhooks/delivery/claim.ts'
import { openDispatcher } from '#test/support/receiver/open-dispatcher.ts'

/*
 * A worker sends a delivery that is alone after one round trip to the database: the packet that fetches
 * the turn of its endpoint also reads what is due there.
 */

t.test('a lone delivery is sent after one packet', async (t) => {
  const { outbox, trips, work } = await setUp(t)
  const eventId = await outbox.publish()
  await work()
  t.strictSame(trips.slice(0, 2), ['write', `sent ${eventId}`])
  t.match(await outbox.deliveries(), [{ status: 'succeeded', attempts: [{ number: 1 }] }])
})

for (const count of [loneRoom - 1, loneRoom, loneRoom + 1]) {
  t.test(`of ${count} deliveries of an endpoint, each is sent once`, async (t) => {
    const { outbox, sent, work } = await setUp(t)
    const published: string[] = []
    for (let n = 0; n < count; n += 1) published.push(await outbox.publish())
    await work()
    t.strictSame(sent.toSorted(), published.toSorted())
    t.equal(
      (await outbox.deliveries()).filter(({ status }) => status === 'succeeded').length,
      count,
    )
  })
}

t.test('turns of two endpoints at once read what is due by themselves', async (t) => {
  const { outbox, sent, trips, work } = await setUp(t, 2)
  const eventId = await outbox.publish()
  await work()
  t.strictSame(sent, [eventId, eventId])
  t.strictSame(trips.slice(0, 2), ['write', 'read'])
})

t.test('a delivery that is added while the turn is fetched is sent at once', async (t) => {
  const { outbox, sent, trips, work, afterFetch } = await setUp(t)
  const first = await outbox.publish()
  let second = ''
  afterFetch(async (wake) => {
    second = await outbox.publish()
    wake()
  })
  await work()
  t.strictSame(sent, [first, second])
  t.strictSame(trips.slice(0, 2), ['write', 'read'], 'the turn reads what is due again')
})

t.test('a turn that is open looks by itself for what is due', async (t) => {
  const bothSent = Promise.withResolvers<void>()
  const { outbox, dispatcher, sent, work } = await openDispatcher(t, {
    times: { idleMs: 3_600_000, pollMs: 10 },
    async onSend() {
      if (sent.length === 1) await outbox.publish()
      else bothSent.resolve()
    },
  })
  await outbox.publish()
  const worked = work(await dispatcher.fetch(100))
  await bothSent.promise
  dispatcher.finish()
  await worked
  t.match(await outbox.deliveries(), [{ status: 'succeeded' }, { status: 'succeeded' }])
})

t.test('a retry that is not due is not read with the turn', async (t) => {
  const { outbox, sent, work } = await setUp(t)
  await outbox.publish()
  await outbox.database.admin.query(
    `UPDATE due_attempts SET number = 2, due_at = now() + interval '5 s'`,
  )
  await work()
  t.strictSame(sent, [])
})

t.test('nothing is read for a tenant that is closed', async (t) => {
  const { outbox, sent, work } = await setUp(t)
  await outbox.publish()
  await outbox.database.admin.query('UPDATE tenants SET closed_at = now()')
  await work()
  t.strictSame(sent, [])
})

t.test('what is read with the turn of a paused endpoint is held', async (t) => {
  const { outbox, sent, work } = await setUp(t)
  const { admin } = outbox.database
  await outbox.publish()
  await admin.query(`UPDATE endpoint_states SET paused = 'hold', paused_at = now()`)
  await work()
  t.strictSame(sent, [])
  t.match((await admin.query('SELECT held_for FROM deliveries')).rows, [{ held_for: 'rate' }])
})

/** Endpoints, and a dispatcher that fetches as a worker does. */
async function setUp(t: Test, endpoints = 1) {
  const trips: string[] = []
  let after: ((wake: () => void) => Promise<void>) | null = null
  const watch = (db: Database): Database => ({
    ...db,
    read(entry, work) {
      trips.push('read')
      return db.read(entry, work)
    },
    async write(entry, work) {
      trips.push('write')
      const result = await db.write(entry, work)
      const then = after
      after = null
      await then?.(() => dispatcher.wake(outbox.tenant.tenantId))
      return result
    },
  })
  const { outbox, dispatcher, sent, work } = await openDispatcher(t, {
    endpoints,
    change: watch,
    onSend: async (id) => void trips.push(`sent ${id}`),
  })
  return {
    outbox,
    trips,
    sent,
    afterFetch(then: typeof after) {
      after = then
    },
    work: async () => work(await dispatcher.fetch(100)),
  }
}
