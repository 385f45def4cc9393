import t from 'tap'
import { createDeliveryWorker, succeed } from '#test/support/receiver/delivery-worker.ts'

const day = 86_400
const hour = 3_600

t.test('owners are warned 14 and 3 days before a certificate expires, once each', async (t) => {
  const worker = await createDeliveryWorker(t, succeed)
  const { outbox, clock, moveTo, workDue, workForecasts } = worker
  const expires = new Date(clock.now().getTime() + 20 * day * 1_000)
  await outbox.database.admin.query('UPDATE endpoint_states SET certificate_expires_at = $1', [
    expires,
  ])
  await outbox.publish()
  await workDue()
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
  const messages = await outbox.database.admin.query('SELECT message FROM notifications')
  t.match(messages.rows, [
    { message: /^The webhook endpoint at 127\.0\.0\.1:\d+ may fail soon\. .* 14 days/ },
    { message: / 3 days/ },
  ])
  await moveTo(2 * day)
  await workForecasts()
  t.strictSame((await worker.endpoint()).forecasts, [])
  t.equal(await workForecasts(), 0, 'an expired certificate is looked at no more')
})

t.test('the warning is over when the certificate is renewed', async (t) => {
  const worker = await createDeliveryWorker(t, succeed)
  const { outbox, clock, moveTo, workDue, workForecasts } = worker
  const expireIn = (days: number) =>
    outbox.database.admin.query('UPDATE endpoint_states SET certificate_expires_at = $1', [
      new Date(clock.now().getTime() + days * day * 1_000),
    ])
  await expireIn(2)
  await outbox.publish()
  await workDue()
  await workForecasts()
  t.equal((await worker.endpoint()).forecasts.length, 1)
  await expireIn(90)
  await moveTo(hour)
  await workForecasts()
  t.strictSame((await worker.endpoint()).forecasts, [])
})

t.test('an endpoint without a certificate is not looked at', async (t) => {
  const { outbox, workDue, workForecasts } = await createDeliveryWorker(t, succeed)
  await outbox.publish()
  await workDue()
  t.equal(await workForecasts(), 0)
})
