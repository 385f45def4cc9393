import t from 'tap'
import { noClientInfo } from '#src/audit/audit.ts'
import { changeEndpoint, enableEndpoint } from '#src/webhooks/endpoints/endpoints.ts'
import { startReplay } from '#src/webhooks/history/replays.ts'
import {
  createDeliveryWorker,
  type DeliveryWorker,
  fail,
  succeed,
} from '#test/support/receiver/delivery-worker.ts'

const minute = 60
const hour = 60 * minute
const day = 24 * hour

t.test('a failing endpoint gets its oldest waiting event as a trial, one at a time', async (t) => {
  const worker = await failingWith(t, 3)
  const { outbox, receiver, moveTo, workDue, workTrials } = worker
  const [oldest] = await outbox.deliveries()
  const sent = receiver.requests.length
  const minutes: number[] = []
  for (let now = 0; now < 8 * 60; now += 1) {
    await workTrials()
    await workDue()
    if (receiver.requests.length > sent + minutes.length) minutes.push(now)
    await moveTo(minute)
  }
  t.strictSame(minutes, [1, 5, 15, 60, 420])
  const ids = receiver.requests.slice(sent).map(({ headers }) => headers['webhook-id'])
  t.strictSame(new Set(ids), new Set([oldest?.event_id]))
  const [tried] = await outbox.deliveries()
  t.match(tried, { status: 'exhausted', series: 0 })
  t.equal(tried?.attempts.length, 1 + minutes.length)
  t.match(await worker.endpoint(), { status: 'failing', health: { state: 'failing' } })
})

t.test('after its success the others follow, 1, 2, 4 … a second, then all', async (t) => {
  const worker = await failingWith(t, 40)
  const { outbox, receiver, moveTo, workDue, workTrials, workDrains } = worker
  receiver.respond(succeed)
  await moveTo(minute)
  await workTrials()
  const before = receiver.requests.length
  await workDue()
  t.equal(receiver.requests.length, before + 1, 'the trial alone')
  t.match(await worker.endpoint(), { status: 'active', health: { state: 'recovering' } })
  const perSecond: number[] = []
  for (let second = 0; second < 8; second++) {
    const sent = receiver.requests.length
    await workDrains()
    await workDue()
    perSecond.push(receiver.requests.length - sent)
    await moveTo(1)
  }
  // Two successes at once are two steps.
  t.strictSame(perSecond.slice(0, 4), [1, 2, 8, 28])
  t.ok((await outbox.deliveries()).every(({ status }) => status === 'succeeded'))
  t.match(await worker.endpoint(), { health: { state: 'healthy' } })
  t.strictSame(await worker.alerts(), [
    'endpoint.failing',
    'endpoint.recovering',
    'endpoint.recovered',
  ])
  t.equal(await workDrains(), 0, 'no job is left')
})

t.test('a failure while it recovers stops the others until the next trial', async (t) => {
  const worker = await failingWith(t, 10)
  const { receiver, moveTo, workDue, workTrials, workDrains } = worker
  receiver.respond(succeed)
  await moveTo(minute)
  await workTrials()
  await workDue()
  receiver.respond(fail)
  await workDrains()
  await workDue()
  t.match(await worker.endpoint(), { status: 'failing', health: { state: 'failing' } })
  const sent = receiver.requests.length
  await moveTo(30)
  await workDrains()
  await workDue()
  t.equal(receiver.requests.length, sent)
  receiver.respond(succeed)
  await moveTo(30)
  t.equal(await workTrials(), 1, 'a minute after it failed again')
  for (let second = 0; second < 10; second++) {
    await workDue()
    await workDrains()
    await moveTo(1)
  }
  t.match(await worker.endpoint(), { health: { state: 'healthy' } })
  const told = await worker.alerts()
  t.equal(told.filter((kind) => kind === 'endpoint.recovering').length, 1, 'told once')
})

t.test('a disabled endpoint gets trials only if its owner wants them', async (t) => {
  const worker = await failingWith(t, 2)
  const { outbox, receiver, moveTo, workDue, workTrials, endpointId, clock } = worker
  await outbox.database.admin.query(
    `UPDATE endpoint_states SET status = 'disabled', disabled_at = now()`,
  )
  await outbox.publish()
  const sent = receiver.requests.length
  receiver.respond(succeed)
  for (let n = 0; n < 8; n++) {
    await moveTo(6 * hour)
    await workTrials()
    await workDue()
  }
  t.equal(receiver.requests.length, sent)
  t.match(await worker.endpoint(), { status: 'disabled', recoverWhenDisabled: false })
  const by = { ...outbox.tenant, clientInfo: noClientInfo }
  const change = { recoverWhenDisabled: true }
  await outbox.db.write(outbox.entry, (tx) =>
    changeEndpoint(tx, by, endpointId, change, clock.now()),
  )
  await moveTo(6 * hour)
  await workTrials()
  await workDue()
  t.match(await worker.endpoint(), {
    status: 'active',
    disabledAt: null,
    health: { state: 'recovering' },
  })
  await drainAll(worker)
  t.ok(
    (await outbox.deliveries()).every(({ status }) => status === 'succeeded'),
    'what was published while it was disabled too',
  )
})

t.test('what failed before the owner enabled the endpoint is left to a replay', async (t) => {
  const worker = await failingWith(t, 3)
  const { outbox, receiver, moveTo, endpointId, clock } = worker
  const by = { ...outbox.tenant, clientInfo: noClientInfo }
  await moveTo(1)
  await outbox.db.write(outbox.entry, (tx) => enableEndpoint(tx, by, endpointId, clock.now()))
  const sent = receiver.requests.length
  receiver.respond(succeed)
  await moveTo(day)
  await drainAll(worker)
  t.equal(receiver.requests.length, sent)
  t.match(await worker.endpoint(), { health: { state: 'healthy' } })
})

t.test('a replay of the delivery on trial does not stop the trials', async (t) => {
  const worker = await failingWith(t, 2)
  const { outbox, moveTo, workDue, workTrials, clock } = worker
  await moveTo(minute)
  await workTrials()
  const ids = (await outbox.deliveries()).map(({ id }) => id)
  await outbox.db.write(outbox.entry, (tx) => startReplay(tx, outbox.tenant, ids, clock.now()))
  await workDue()
  t.match(await worker.endpoint(), { status: 'failing' })
  for (const { attempts } of await outbox.deliveries()) t.equal(attempts.length, 2)
  await moveTo(5 * minute)
  t.equal(await workTrials(), 1)
  t.equal(await workDue(), 1)
})

t.test('a replay of the delivery on trial has the whole schedule', async (t) => {
  for (const rateLimit of [null, { perSecond: 1, burst: 1 }]) {
    const worker = await failingWith(t, 2, [0, 1, 1, 1, hour])
    const { outbox, moveTo, workTrials, endpointId, clock } = worker
    const by = { ...outbox.tenant, clientInfo: noClientInfo }
    const numbers = async () => (await outbox.deliveries()).map(({ attempts }) => attempts.length)
    t.strictSame(await numbers(), [5, 5])
    await moveTo(minute)
    t.equal(await workTrials(), 1)
    await outbox.db.write(outbox.entry, (tx) =>
      changeEndpoint(tx, by, endpointId, { rateLimit }, clock.now()),
    )
    // So that with a limit the replay is held before its first attempt.
    await outbox.database.admin.query('UPDATE endpoint_states SET rate_next_at = $1', [
      new Date(clock.now().getTime() + 5_000),
    ])
    const [onTrial = ''] = (await outbox.deliveries()).map(({ id }) => id)
    await outbox.db.write(outbox.entry, (tx) =>
      startReplay(tx, outbox.tenant, [onTrial], clock.now()),
    )
    await workFor(worker, 30)
    t.match((await outbox.deliveries())[0], { status: 'pending', series: 1 })
    t.strictSame(await numbers(), [9, 5], 'the fifth is after an hour')
    await moveTo(5 * minute)
    t.equal(await workTrials(), 1)
    await workFor(worker, 5)
    t.strictSame(await numbers(), [9, 6], 'meanwhile the other is tried')
    await moveTo(hour)
    await workFor(worker, 5)
    t.match((await outbox.deliveries())[0], { status: 'exhausted', series: 1 })
    t.strictSame(await numbers(), [10, 6])
    t.match(await worker.endpoint(), { status: 'failing' })
  }
})

t.test('a trial to an address that has become forbidden is refused by the guard', async (t) => {
  const worker = await failingWith(t, 1)
  const { outbox, receiver, moveTo, workDue, workTrials } = worker
  const sent = receiver.requests.length
  await outbox.database.admin.query(`UPDATE webhook_endpoints SET url = 'https://10.0.0.1/'`)
  await moveTo(minute)
  await workTrials()
  t.equal(await workDue(), 1)
  t.equal(receiver.requests.length, sent)
  const { rows } = await outbox.database.admin.query(
    'SELECT cause FROM delivery_attempts ORDER BY number DESC LIMIT 1',
  )
  t.match(rows, [{ cause: /^blocked: / }])
})

/** A worker whose endpoint has failed so many deliveries, by default with one attempt each. */
async function failingWith(
  t: Parameters<typeof createDeliveryWorker>[0],
  deliveries: number,
  waits: readonly number[] = [0],
): Promise<DeliveryWorker> {
  const worker = await createDeliveryWorker(t, fail, waits)
  for (let n = 0; n < deliveries; n++) {
    await worker.outbox.publish()
    await worker.moveTo(0.001)
  }
  await worker.workDue()
  for (const seconds of waits.slice(1)) {
    await worker.moveTo(seconds)
    await worker.workDue()
  }
  return worker
}

/** Without trials. */
async function workFor({ moveTo, workDue, workDrains }: DeliveryWorker, seconds: number) {
  for (let second = 0; second < seconds; second++) {
    await workDrains()
    await workDue()
    await moveTo(1)
  }
}

async function drainAll({ moveTo, workDue, workTrials, workDrains }: DeliveryWorker) {
  for (let second = 0; second < 12; second++) {
    await workTrials()
    await workDrains()
    await workDue()
    await moveTo(1)
  }
}
