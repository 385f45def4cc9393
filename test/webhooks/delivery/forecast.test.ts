import t from 'tap'
import {
  createDeliveryWorker,
  type DeliveryWorker,
  fail,
  succeed,
} from '#test/support/receiver/delivery-worker.ts'

const day = 86_400
const hour = 3_600

t.test('owners are warned 14 and 3 days before a certificate expires, once each', async (t) => {
  const worker = await createDeliveryWorker(t, succeed)
  const { outbox, clock, moveTo, workDue, workForecasts } = worker
  await outbox.publish()
  await workDue()
  const expires = new Date(clock.now().getTime() + 20 * day * 1_000)
  await outbox.database.admin.query('UPDATE webhook_endpoints SET certificate_expires_at = $1', [
    expires,
  ])
  const warned: number[] = []
  for (let hours = 0; hours < 19 * 24; hours += 3) {
    await workForecasts()
    if ((await worker.alerts()).length > warned.length) warned.push(hours / 24)
    await moveTo(3 * hour)
  }
  t.strictSame(warned, [6, 17])
  t.match((await worker.endpoint()).forecasts, [
    { kind: 'certificate', since: /Z$/, message: /less than 3 days/ },
  ])
  t.strictSame(await worker.alerts(), ['endpoint.certificate', 'endpoint.certificate'])
  await moveTo(2 * day)
  await workForecasts()
  t.strictSame((await worker.endpoint()).forecasts, [])
  t.equal(await workForecasts(), 0, 'an endpoint that nobody uses is looked at no more')
})

t.test('slow responses and a falling success rate are warnings while they last', async (t) => {
  const worker = await createDeliveryWorker(t, succeed)
  const { outbox, receiver, moveTo, workForecasts } = worker
  await deliver(worker, 25)
  await moveTo(1)
  await workForecasts(1)
  t.match((await worker.endpoint()).forecasts, [{ kind: 'response-time' }])
  await workForecasts()
  t.equal((await worker.alerts()).length, 1)
  await moveTo(hour)
  await workForecasts()
  t.strictSame((await worker.endpoint()).forecasts, [], 'it is over')

  await moveTo(7 * hour)
  await deliver(worker, 20)
  receiver.respond(fail)
  await deliver(worker, 5)
  receiver.respond(succeed)
  await moveTo(5)
  await worker.workDue()
  await workForecasts()
  t.match((await worker.endpoint()).forecasts, [{ kind: 'success-rate', message: /^83 % of/ }])
  const messages = await outbox.database.admin.query(
    `SELECT message FROM notifications WHERE kind = 'endpoint.success-rate'`,
  )
  t.match(messages.rows, [{ message: /^The webhook endpoint at 127\.0\.0\.1:\d+ may fail soon\./ }])
})

async function deliver({ outbox, workDue }: DeliveryWorker, events: number): Promise<void> {
  for (let n = 0; n < events; n++) await outbox.publish()
  await workDue()
}
