import t from 'tap'
import { noClientInfo } from '#src/audit/audit.ts'
import { pauseEndpoint, resumeEndpoint } from '#src/webhooks/delivery/held/pause.ts'
import { replayDelivery } from '#src/webhooks/history/replays.ts'
import {
  createDeliveryWorker,
  type DeliveryWorker,
  fail,
  succeed,
} from '#test/support/receiver/delivery-worker.ts'

t.test('a paused endpoint gets nothing, and everything in order when it is resumed', async (t) => {
  const worker = await createDeliveryWorker(t, succeed)
  const { outbox, receiver, moveTo, workDue, workDrains } = worker
  const published = [await outbox.publish()]
  await pause(worker, true)
  t.match(await worker.endpoint(), { status: 'paused', health: { state: 'paused' } })
  for (let n = 0; n < 3; n++) {
    await moveTo(0.001)
    published.push(await outbox.publish())
  }
  await workDue()
  t.equal(await workDrains(), 0, 'no job waits for the end of the pause')
  t.equal(await workDue(), 0)
  t.equal(receiver.requests.length, 0)
  t.equal((await outbox.database.admin.query('SELECT FROM due_attempts')).rowCount, 0)
  t.strictSame(await statuses(worker), ['pending', 'pending', 'pending', 'pending'])

  await resume(worker)
  t.match(await worker.endpoint(), { status: 'active', pausedAt: null })
  await workDrains()
  await workDue()
  const sent = receiver.requests.map(({ headers }) => String(headers['webhook-id']))
  t.strictSame(sent.toSorted(), published.toSorted())
  t.strictSame(new Set(await statuses(worker)), new Set(['succeeded']))
})

t.test('a retry waits for the end of the pause and keeps its number', async (t) => {
  const worker = await createDeliveryWorker(t, fail)
  const { outbox, receiver, moveTo, workDue, workDrains } = worker
  await outbox.publish()
  await workDue()
  t.equal(receiver.requests.length, 1)
  await pause(worker, true)
  for (let hour = 0; hour < 3; hour++) {
    await moveTo(3_600)
    await workDue()
  }
  t.equal(receiver.requests.length, 1)
  await resume(worker)
  await workDrains()
  await workDue()
  const [delivery] = await outbox.deliveries()
  t.match(delivery?.attempts, [
    { series: 0, number: 1 },
    { series: 0, number: 2 },
  ])
})

t.test('without holding, deliveries end without an attempt and are left to a replay', async (t) => {
  const worker = await createDeliveryWorker(t, succeed)
  const { outbox, receiver, clock, moveTo, workDue, workDrains } = worker
  await outbox.publish()
  await pause(worker, true)
  await workDue()
  await pause(worker, false)
  await outbox.publish()
  await workDrains()
  await workDue()
  t.equal(receiver.requests.length, 0)
  t.strictSame(await statuses(worker), ['exhausted', 'exhausted'], 'those held before as well')
  const [first] = await outbox.deliveries()
  const replay = () => {
    const by = { ...outbox.tenant, clientInfo: noClientInfo }
    return outbox.db.write(outbox.entry, (tx) =>
      replayDelivery(tx, by, String(first?.id), clock.now()),
    )
  }
  t.equal(await replay(), 'paused')
  await moveTo(1)
  await resume(worker)
  await workDrains()
  await workDue()
  t.equal(receiver.requests.length, 0, 'nothing is sent by itself')
  t.match(await replay(), { status: 'pending' })
  await workDue()
  t.equal(receiver.requests.length, 1)
})

t.test('a failing endpoint gets no trial while it is paused', async (t) => {
  const worker = await createDeliveryWorker(t, fail, [0])
  const { outbox, receiver, moveTo, workDue, workDrains, workTrials } = worker
  await outbox.publish()
  await moveTo(1)
  await workDue()
  t.match(await worker.endpoint(), { status: 'failing' })
  await pause(worker, true)
  const before = receiver.requests.length
  const passHours = async (hours: number) => {
    for (let quarter = 0; quarter < hours * 4; quarter++) {
      await moveTo(900)
      await workTrials()
      await workDrains()
      await workDue()
    }
  }
  await passHours(6)
  t.equal(receiver.requests.length, before)
  await resume(worker)
  receiver.respond(succeed)
  await passHours(6)
  t.match(await worker.endpoint(), { status: 'active' })
  t.strictSame(await statuses(worker), ['succeeded'])
})

t.test('pauses and deliveries at once leave none without a due attempt', async (t) => {
  const worker = await createDeliveryWorker(t, succeed)
  const { outbox, moveTo, workDue, workDrains } = worker
  for (let round = 0; round < 10; round++) {
    await outbox.publish()
    await outbox.publish()
    await Promise.all([workDue(), pause(worker, true), workDrains(), workDue(1), resume(worker)])
    await moveTo(0.1)
  }
  await resume(worker)
  for (let second = 0; second < 10; second++) {
    await workDrains()
    await workDue()
    await moveTo(1)
  }
  t.strictSame(new Set(await statuses(worker)), new Set(['succeeded']))
})

function pause({ outbox, endpointId, queue, clock }: DeliveryWorker, keep: boolean) {
  const by = { ...outbox.tenant, clientInfo: noClientInfo }
  return outbox.db.write(outbox.entry, (tx) =>
    pauseEndpoint(tx, queue, by, endpointId, { keep, now: clock.now() }),
  )
}

function resume({ outbox, endpointId, queue, clock }: DeliveryWorker) {
  const by = { ...outbox.tenant, clientInfo: noClientInfo }
  return outbox.db.write(outbox.entry, (tx) =>
    resumeEndpoint(tx, queue, by, endpointId, clock.now()),
  )
}

async function statuses({ outbox }: DeliveryWorker): Promise<string[]> {
  return (await outbox.deliveries()).map(({ status }) => status)
}
