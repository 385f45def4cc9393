import t from 'tap'
import { startReplay } from '#src/webhooks/delivery/replays.ts'
import type { createOutbox } from '#test/support/outbox.ts'
import { fail, retrySeconds, startMovingClock as setUp, succeed } from './moving-clock.ts'

t.test('the whole schedule: five attempts, then exhausted, failing and an alert', async (t) => {
  const { outbox, receiver, moveTo, workDue } = await setUp(t, fail)
  await outbox.publish()
  const waited = [await workDue()]
  for (const seconds of retrySeconds.slice(1)) {
    await moveTo(seconds - 1)
    waited.push(await workDue())
    await moveTo(1)
    waited.push(await workDue())
  }
  await moveTo(1_000_000)
  waited.push(await workDue())
  t.strictSame(waited, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0], 'each attempt after its wait, not before')
  t.equal(receiver.requests.length, 5)
  t.equal(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size, 1)
  t.match(await outbox.deliveries(), [
    {
      status: 'exhausted',
      next_attempt_at: null,
      attempts: [1, 2, 3, 4, 5].map((number) => ({ number, status_code: 500 })),
    },
  ])
  t.match(await stateOf(outbox), {
    status: 'failing',
    failing_since: Date,
    alerts: ['endpoint.failing'],
  })
})

t.test('owners are alerted once per endpoint and hour', async (t) => {
  const { outbox, moveTo, workDue } = await setUp(t, fail, [0])
  for (const seconds of [0, 10, 3_580, 20]) {
    await moveTo(seconds)
    await outbox.publish()
    await workDue()
  }
  t.strictSame((await stateOf(outbox)).alerts, ['endpoint.failing', 'endpoint.failing'])
})

t.test('a success makes a failing endpoint active and sends an alert', async (t) => {
  const { outbox, receiver, workDue } = await setUp(t, fail, [0])
  await outbox.publish()
  await workDue()
  receiver.respond(succeed)
  await outbox.publish()
  await workDue()
  t.match(await stateOf(outbox), {
    status: 'active',
    failing_since: null,
    alerts: ['endpoint.failing', 'endpoint.recovered'],
  })
})

t.test('failing for five days with ten exhausted deliveries disables it', async (t) => {
  const { outbox, receiver, moveTo, workDue } = await setUp(t, fail, [0, 60])
  for (let n = 0; n < 11; n++) await outbox.publish()
  await workDue()
  await moveTo(60)
  await workDue()
  t.match(await stateOf(outbox), { status: 'failing' })
  await moveTo(5 * 86_400)
  await outbox.publish()
  await outbox.publish()
  await workDue()
  await moveTo(60)
  await workDue()
  const { status, disabled_at, alerts } = await stateOf(outbox)
  t.match({ status, disabled_at }, { status: 'disabled', disabled_at: Date })
  t.equal(alerts.at(-1), 'endpoint.disabled')
  const sent = receiver.requests.length
  await outbox.publish()
  t.equal(await workDue(), 0, 'nothing else is sent')
  t.equal(receiver.requests.length, sent)
  t.match((await outbox.deliveries()).at(-1), { status: 'exhausted', attempts: [] })
})

t.test('pending deliveries to an endpoint that is disabled are exhausted', async (t) => {
  const { outbox, receiver, moveTo, workDue } = await setUp(t, fail)
  await outbox.publish()
  await workDue()
  await outbox.database.admin.query(
    `UPDATE webhook_endpoints SET status = 'disabled', disabled_at = now()`,
  )
  await moveTo(5)
  t.equal(await workDue(), 1)
  t.equal(receiver.requests.length, 1)
  t.match(await outbox.deliveries(), [{ status: 'exhausted', attempts: [{ number: 1 }] }])
  t.strictSame((await stateOf(outbox)).alerts, [])
})

t.test('a replay has its own attempt counter', async (t) => {
  const { outbox, receiver, moveTo, workDue } = await setUp(t, fail, [0, 60])
  await outbox.publish()
  await workDue()
  const ids = (await outbox.deliveries()).map(({ id }) => id)
  await outbox.db.write(outbox.entry, (tx) => startReplay(tx, outbox.tenant, ids, new Date()))
  receiver.respond(succeed)
  await workDue()
  await moveTo(60)
  t.equal(await workDue(), 1, 'the job of the previous series does nothing')
  t.equal(receiver.requests.length, 2)
  t.match(await outbox.deliveries(), [
    {
      status: 'succeeded',
      attempts: [
        { series: 0, number: 1, status_code: 500 },
        { series: 1, number: 1, status_code: 204 },
      ],
    },
  ])
})

t.test('a wait before the first attempt', async (t) => {
  const { outbox, receiver, moveTo, workDue } = await setUp(t, succeed, [10])
  await outbox.publish()
  await workDue()
  t.equal(receiver.requests.length, 0)
  t.match(await outbox.deliveries(), [{ status: 'pending', next_attempt_at: Date }])
  await moveTo(9)
  t.equal(await workDue(), 0)
  await moveTo(1)
  t.equal(await workDue(), 1)
  t.match(await outbox.deliveries(), [{ status: 'succeeded', attempts: [{ number: 1 }] }])
})

async function stateOf({ database }: Awaited<ReturnType<typeof createOutbox>>) {
  const { rows } = await database.admin.query(
    `SELECT status, failing_since, disabled_at,
       ARRAY(SELECT kind FROM notifications n WHERE n.endpoint_id = e.id ORDER BY n.id) AS alerts
     FROM webhook_endpoints e`,
  )
  return rows[0]
}
