import t from 'tap'
import { startReplay } from '#src/webhooks/history/replays.ts'
import {
  createDeliveryWorker,
  type DeliveryWorker,
  fail,
  retrySeconds,
  succeed,
} from '#test/support/receiver/delivery-worker.ts'

t.test('the whole schedule: five attempts, then exhausted, failing and an alert', async (t) => {
  const { outbox, receiver, moveTo, workDue } = await createDeliveryWorker(t, fail)
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

t.test('an endpoint gets the wait that it asks for', async (t) => {
  const { outbox, receiver, moveTo, workDue } = await createDeliveryWorker(t, fail)
  const date = 'Wed, 21 Oct 2026 07:28:00 GMT' // of the response, far from the clock of the worker
  const rows: [headers: Record<string, string | string[]>, seconds: number][] = [
    [{ 'retry-after': '120' }, 120],
    [{ date, 'retry-after': 'Wed, 21 Oct 2026 07:38:00 GMT' }, 600],
    [{ 'retry-after': 'soon' }, 300],
    [{ 'retry-after': ['4000', '5000'] }, 3_600],
  ]
  await outbox.publish()
  for (const [headers, seconds] of rows) {
    receiver.respond((_request, response) => response.writeHead(503, headers).end())
    t.equal(await workDue(), 1)
    await moveTo(seconds - 1)
    t.equal(await workDue(), 0, `not before ${seconds} s`)
    await moveTo(1)
  }
  receiver.respond(succeed)
  t.equal(await workDue(), 1)
  t.match(await outbox.deliveries(), [{ status: 'succeeded' }])
  t.equal(receiver.requests.length, 5)
})

t.test('the first failed attempt is visible at once, and so is the success after it', async (t) => {
  const { outbox, receiver, moveTo, workDue, endpoint } = await createDeliveryWorker(t, fail)
  t.match((await endpoint()).health, { state: 'healthy' })
  await outbox.publish()
  await workDue()
  const first = (await endpoint()).health
  t.match(first, { state: 'retrying', reason: /^The endpoint answered 500\./ })
  await moveTo(5)
  receiver.respond((_request, response) => response.writeHead(404).end())
  await workDue()
  t.match((await endpoint()).health, { ...first, reason: /^The endpoint answered 404\./ })
  receiver.respond(succeed)
  await moveTo(30)
  await workDue()
  const { state, since } = (await endpoint()).health
  t.equal(state, 'healthy')
  t.ok(since > first.since)
  t.strictSame((await stateOf(outbox)).alerts, [], 'nobody is alerted')
})

t.test(
  'the HTTP status of the latest attempt can be filtered by; 2xx changes no indexed column',
  async (t) => {
    const { outbox, receiver, moveTo, workDue } = await createDeliveryWorker(t, fail)
    const latest = async () => {
      const { rows } = await outbox.database.admin.query(
        'SELECT http_status, unusual_status, unusual_class FROM deliveries ORDER BY created_at DESC LIMIT 1',
      )
      return Object.values(rows[0])
    }
    await outbox.publish()
    t.strictSame(await latest(), [null, null, null], 'before the first attempt')
    await workDue()
    t.strictSame(await latest(), [500, 500, 5])
    receiver.respond((_request, response) => response.destroy())
    await moveTo(5)
    await workDue()
    t.strictSame(await latest(), [0, 0, 0], 'no response')
    receiver.respond((_request, response) => response.writeHead(204).end())
    await moveTo(30)
    await workDue()
    t.strictSame(await latest(), [204, null, null])

    receiver.respond((_request, response) => response.writeHead(200).end())
    await outbox.publish()
    await workDue()
    t.strictSame(await latest(), [200, null, null])
  },
)

t.test('owners are alerted once per endpoint and hour', async (t) => {
  const { outbox, moveTo, workDue } = await createDeliveryWorker(t, fail, [0])
  for (const seconds of [0, 10, 3_580, 20]) {
    await moveTo(seconds)
    await outbox.publish()
    await workDue()
  }
  t.strictSame((await stateOf(outbox)).alerts, ['endpoint.failing', 'endpoint.failing'])
})

t.test('a success makes a failing endpoint active and sends an alert', async (t) => {
  const { outbox, receiver, workDue } = await createDeliveryWorker(t, fail, [0])
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
  const { outbox, receiver, moveTo, workDue } = await createDeliveryWorker(t, fail, [0, 60])
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
  await workDue()
  t.equal(receiver.requests.length, sent, 'nothing else is sent')
  t.match((await outbox.deliveries()).at(-1), { status: 'exhausted', attempts: [] })
})

t.test('pending deliveries to an endpoint that is disabled are exhausted', async (t) => {
  const { outbox, receiver, moveTo, workDue } = await createDeliveryWorker(t, fail)
  await outbox.publish()
  await workDue()
  await outbox.database.admin.query(
    `UPDATE endpoint_states SET status = 'disabled', disabled_at = now()`,
  )
  await moveTo(5)
  t.equal(await workDue(), 1)
  t.equal(receiver.requests.length, 1)
  t.match(await outbox.deliveries(), [{ status: 'exhausted', attempts: [{ number: 1 }] }])
  t.strictSame((await stateOf(outbox)).alerts, [])
})

t.test('a replay has its own attempt counter', async (t) => {
  const { outbox, receiver, moveTo, workDue } = await createDeliveryWorker(t, fail, [0, 60])
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
  const { outbox, receiver, moveTo, workDue } = await createDeliveryWorker(t, succeed, [10])
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

async function stateOf({ database }: DeliveryWorker['outbox']) {
  const { rows } = await database.admin.query(
    `SELECT status, failing_since, disabled_at,
       ARRAY(SELECT kind FROM notifications n
             WHERE n.tenant_id = e.tenant_id AND n.endpoint_id = e.id ORDER BY n.id) AS alerts
     FROM endpoint_states e`,
  )
  return rows[0]
}
