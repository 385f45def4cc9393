import type pg from 'pg'
import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { startReceiver } from '#dev/testing/receiver.ts'
import { testConfig, testSettings } from '#dev/testing/settings.ts'
import { createLogger } from '#src/observability/logger.ts'
import { openQueue } from '#src/queue/queue.ts'
import { startWorker } from '#src/worker.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { until } from '#test/support/database/until.ts'
import { enqueue, startQueue, startTestWorker } from '#test/support/processes/running-worker.ts'
import { startKillable } from './killable.ts'
import { invoicesOf, receive, stateOf } from './received.ts'

t.test('the jobs of a dead worker continue before they expire, with one effect', async (t) => {
  const database = await createDatabase(t)
  await createUser(database, { billingCustomer: 'cus_1' })
  const lost = await startQueue(t, database, 'worker')
  await enqueue(database, { id: 'evt_1', type: 'charge.succeeded' }, { queue: lost })
  t.equal((await lost.fetch('billing-event')).length, 1, 'fetched and never completed')
  await database.admin.query('UPDATE pgboss.job SET expire_seconds = 86400')
  const worker = await startTestWorker(t, database)
  // On a busy machine a try may fail without a connection; it is repeated.
  await until(database, `SELECT FROM received_events WHERE status = 'processed'`)
  await worker.stop()
  t.equal((await invoicesOf(database)).length, 1)
})

t.test('a worker that dies during the last try leaves the event dead', async (t) => {
  const database = await createDatabase(t)
  const lost = await startQueue(t, database, 'worker')
  await enqueue(database, { id: 'evt_1', type: 'charge.succeeded' }, { queue: lost })
  await database.admin.query('UPDATE pgboss.job SET retry_count = retry_limit')
  t.equal((await lost.fetch('billing-event')).length, 1, 'fetched and never completed')
  const worker = await startTestWorker(t, database)
  await until(database, `SELECT FROM received_events WHERE status = 'dead'`)
  await worker.stop()
  t.match(await stateOf(database), { attempts: 1, last_error: /worker ended during the last/ })
})

t.test('a result recorded before its job expired stays', async (t) => {
  const database = await createDatabase(t)
  const queue = await startQueue(t, database, 'web')
  const dead = await receive(database, { id: 'evt_noted', type: 'charge.succeeded' })
  const done = await receive(database, { id: 'evt_done', type: 'charge.succeeded' })
  await database.admin.query(
    `UPDATE received_events SET last_error = 'as recorded', attempts = 21,
       status = CASE event_id WHEN 'evt_noted' THEN 'dead' ELSE 'processed' END`,
  )
  for (const eventId of [dead, done]) await queue.send('billing-event-dead', { eventId })
  const worker = await startTestWorker(t, database)
  await until(
    database,
    `SELECT FROM pgboss.job WHERE name = 'billing-event-dead' HAVING every(state = 'completed')`,
  )
  await worker.stop()
  const kept = { attempts: 21, last_error: 'as recorded' }
  t.match(await stateOf(database, dead), { status: 'dead', ...kept })
  t.match(await stateOf(database, done), { status: 'processed', ...kept })
})

t.test('kill -9 while the app has not answered: the event is posted again', async (t) => {
  const database = await createDatabase(t)
  await createUser(database, { billingCustomer: 'cus_1' })
  const app = await startReceiver(() => {}) // answers nothing
  t.teardown(() => app.close())
  const settings = {
    APP_WEBHOOK_URL: app.url,
    APP_WEBHOOK_SECRETS: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
    ROLE: 'worker',
  }
  const worker = await startKillable('worker', { ...testSettings(database), ...settings })
  t.teardown(() => worker.end())
  const queue = await startQueue(t, database, 'web')
  await enqueue(database, { id: 'evt_1', type: 'charge.succeeded' }, { queue })
  t.equal((await app.next()).headers['webhook-id'], 'evt_1')
  const waiting = `SELECT FROM received_events WHERE forwarding = 'waiting' AND forward_attempts = 0`
  t.equal((await database.admin.query(waiting)).rowCount, 1)
  app.respond((_request, response) => response.writeHead(204).end())
  await worker.kill()
  t.equal((await app.next()).headers['webhook-id'], 'evt_1')
  await until(database, `SELECT FROM received_events WHERE forwarding = 'delivered'`)
})

t.test('a start that fails leaves no connection open', async (t) => {
  const database = await createDatabase(t)
  await database.admin.query('REVOKE INSERT ON pgboss.job_common FROM test_worker')
  await t.rejects(startWorker(testConfig(database), createLogger('silent')), /permission denied/)
  const left = `SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND usename = 'test_worker'`
  await until(database, `SELECT WHERE NOT EXISTS (${left})`)
})

t.test('a queue connection that breaks twice does not end the process', async (t) => {
  const database = await createDatabase(t)
  const queue = openQueue(database.url, 'web', () => {})
  await queue.start()
  t.teardown(() => queue.stop({ graceful: false }))
  const { pool } = queue.getDb() as unknown as { pool: pg.Pool }
  const client = await pool.connect()
  t.ok(client.emit('error', new Error('broken')), 'handled while it is checked out')
  client.release()
  client.emit('error', new Error('broken'))
  t.ok(client.emit('error', new Error('broken again')), 'handled while it is idle, more than once')
  await queue.send('billing-event', { eventId: 'evt_1' })
})
