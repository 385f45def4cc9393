import t from 'tap'
import type { Respond } from '#dev/testing/receiver.ts'
import { untilTrue } from '#test/support/database/until.ts'
import { createDeliveryWorker, fail, succeed } from '#test/support/receiver/delivery-worker.ts'

const hour = 3_600
const day = 24 * hour
const missing: Respond = (_request, response) => response.writeHead(404).end()

/** What the receiver does from a day on. */
const script: readonly (readonly [day: number, respond: Respond])[] = [
  [2, fail],
  [3.5, succeed],
  [7, missing],
  [10.5, succeed],
]

t.test('a fortnight of an endpoint that fails, recovers and fails again', async (t) => {
  const worker = await createDeliveryWorker(t, succeed)
  const { outbox, receiver, clock, moveTo, workDue, workTrials, workDrains, nextDue } = worker
  const start = clock.now().getTime()
  const dayNow = () => (clock.now().getTime() - start) / 1_000 / day
  const events = Array.from({ length: 14 * 8 }, (_, n) => (n * 3 * hour) / day)
  const changes = [...script]
  const states: string[] = []
  while (dayNow() < 14) {
    while ((changes[0]?.[0] ?? Infinity) <= dayNow()) {
      const [, respond] = changes.shift() ?? [0, succeed]
      receiver.respond(respond)
    }
    while ((events[0] ?? Infinity) <= dayNow()) {
      events.shift()
      await outbox.publish()
    }
    await untilTrue(
      async () => (await workTrials()) + (await workDrains()) + (await workDue()) === 0,
    )
    const { state } = (await worker.endpoint()).health
    if (state !== states.at(-1)) states.push(state)
    const steps = [changes[0]?.[0], events[0], 14].flatMap((at) =>
      at === undefined ? [] : [(at - dayNow()) * day],
    )
    await moveTo(Math.max(0.001, Math.min(...steps, (await nextDue()) ?? day)))
  }

  const outage = ['retrying', 'failing', 'recovering', 'healthy']
  t.strictSame(states, ['healthy', ...outage, ...outage])
  const deliveries = await outbox.deliveries()
  t.equal(deliveries.length, 14 * 8)
  t.ok(
    deliveries.every(({ status }) => status === 'succeeded'),
    'everything has arrived, without anyone at night',
  )
  const told = await worker.alerts()
  for (const kind of ['endpoint.recovering', 'endpoint.recovered']) {
    t.equal(told.filter((one) => one === kind).length, 2, `${kind}, once each`)
  }
  t.notOk(told.includes('endpoint.disabled'))

  const { rows } = await outbox.database.admin.query<{ started_at: Date; status_code: number }>(
    'SELECT started_at, status_code FROM delivery_attempts WHERE number > 5 ORDER BY started_at',
  )
  const trials = rows.map(({ started_at, status_code }) => ({
    hour: (started_at.getTime() - start) / 1_000 / hour,
    status: status_code,
  }))
  const refused = trials.filter(({ status }) => status === 404)
  const gaps = refused.slice(1).map(({ hour }, index) => hour - (refused[index]?.hour ?? 0))
  t.ok(refused.length >= 3, 'an endpoint that refuses is tried')
  t.ok(
    gaps.every((hours) => hours >= 24),
    'once a day',
  )
  const broken = trials.filter(({ status }) => status === 500)
  t.equal(broken.length, 9, 'one that is broken after 1, 5, 15, 60 minutes, then every six hours')
  const { rows: left } = await outbox.database.admin.query(
    `SELECT FROM pgboss.job WHERE state < 'completed'
       AND name IN ('endpoint-turn', 'endpoint-trial', 'endpoint-drain')`,
  )
  t.equal(left.length, 0, 'no job is left')
})
