import t from 'tap'
import { createUser, signIn } from '#dev/testing/people.ts'
import { testConfig } from '#dev/testing/settings.ts'
import { openSystemDatabase } from '#src/db/system-database.ts'
import { checkLedger, findSettled, wholeRanges } from '#src/ledger/ledger.ts'
import { checkHistory } from '#test/billing/history.ts'
import { createOrder } from '#test/support/callers/objects.ts'
import { patient } from '#test/support/database/open.ts'
import { until } from '#test/support/database/until.ts'
import { allowing, openReceiver } from '#test/support/receiver/outbox.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'
import { checkDeliveries } from '#test/webhooks/delivery/delivery-history.ts'
import { askPatiently, startInstance } from './instance.ts'
import { startOwnServer } from './own-server.ts'
import { createSender, unexpected } from './senders.ts'
import { createSteppingClock, faketime } from './stepping-clock.ts'

const skip = faketime === undefined && 'this machine has no libfaketime'
/** Twice this is less than what the ledger waits before it counts (ten minutes). */
const step = 280
const hour = 3_600
const eventsPerStep = 8

const allDone = `SELECT WHERE NOT EXISTS (SELECT FROM received_events WHERE status <> 'processed')
  AND NOT EXISTS (SELECT FROM deliveries WHERE status <> 'succeeded')`

t.test('the clock of the database steps forward and back', { skip }, async (t) => {
  const clock = await createSteppingClock(t)
  const database = await startOwnServer(t, {
    environment: clock.environment,
  })
  const user = await createUser(database, { billingCustomer: 'cus_1' })
  const order = await createOrder(database, user)
  const { cookie } = await signIn({ config: testConfig(database), database }, user)
  const receiver = await openReceiver(t)
  await createEndpoint(database, user, { url: receiver.url })
  const web = await startInstance(t, database, { ROLE: 'web' })
  const workers = [
    await startInstance(t, database, allowing(receiver)),
    await startInstance(t, database, allowing(receiver)),
  ]
  const sender = createSender(web)

  for (const [name, seconds] of [
    ['at first', 0],
    ['forward', step],
    ['back', 0],
    ['back again', -step],
    ['forward again', 0],
  ] as const) {
    await clock.step(seconds)
    await sender.all(eventsPerStep)
    await until(database, allDone)
    const read = await askPatiently(web, { path: `/orders/${order}`, headers: { cookie } })
    t.match(read, { status: 200, body: /4242/ }, `${name}: everything is done, sessions stay`)
  }
  t.strictSame(unexpected(sender.answers), [], 'every refusal has Retry-After')
  t.strictSame(await checkHistory(database.admin, sender.history), [])
  t.strictSame(await checkDeliveries(database.admin), [])

  await t.test('what waits while the clock steps back is done when its time comes', async (t) => {
    for (const { child } of workers) child.kill('SIGTERM')
    await Promise.all(workers.map(({ ended }) => ended))
    await clock.step(step)
    await sender.all(eventsPerStep)
    await clock.step(0)
    const next = await startInstance(t, database, allowing(receiver))
    await until(
      database,
      `SELECT FROM pgboss.job WHERE name = 'billing-event' AND state = 'created'
         AND start_after > now() HAVING count(*) = ${eventsPerStep}`,
    )
    await clock.step(step)
    await until(database, allDone)
    t.strictSame(await checkHistory(database.admin, sender.history), [])
    t.strictSame(await checkDeliveries(database.admin), [])
    next.child.kill('SIGTERM')
    await next.ended
  })

  await t.test('the ledger accounts for all of it', async (t) => {
    const systemDb = openSystemDatabase(database.workerUrl, 1, patient)
    t.teardown(() => systemDb.close())
    await clock.step(hour)
    const before = await findSettled(systemDb)
    t.strictSame(
      (await checkLedger(systemDb, await wholeRanges(systemDb, before), before)).findings,
      [],
    )
  })
})
