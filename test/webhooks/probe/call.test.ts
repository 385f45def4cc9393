import { once } from 'node:events'
import t, { type Test } from 'tap'
import { createLogger } from '#src/observability/logger.ts'
import { maxWaiting } from '#src/queue/answers.ts'
import { jobsChannel } from '#src/queue/jobs.ts'
import { openQueue } from '#src/queue/queue.ts'
import { endpointCallQueue } from '#src/webhooks/schedule/due-attempts.ts'
import { startWorker } from '#src/worker.ts'
import { build } from '#test/support/app/app.ts'
import { twoAdmins } from '#test/support/callers/webhook-admin.ts'
import { until } from '#test/support/database/until.ts'
import { startCallers } from '#test/support/receiver/endpoint-calls.ts'
import { allowing, openReceiver } from '#test/support/receiver/outbox.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

async function setUp(t: Test) {
  const receiver = await openReceiver(t, (_request, response) =>
    response.writeHead(418).end('short and stout'),
  )
  const admins = await twoAdmins(await build(t, allowing(receiver)))
  const id = await createEndpoint(admins.test.database, admins.one, { url: receiver.url })
  return { ...admins, receiver, path: `/webhook-endpoints/${id}` }
}

t.test(
  'without a worker a test and a probe are 503, and nothing is sent then or later',
  async (t) => {
    const { test, receiver, path, send } = await setUp(t)
    const answers = await Promise.all([send('POST', `${path}/test`), send('POST', `${path}/probe`)])
    for (const answer of answers) {
      t.equal(answer.statusCode, 503)
      t.match(answer.json().detail, 'nothing was sent')
      t.ok(answer.headers['retry-after'])
    }
    await startCallers(t, test)
    await until(
      test.database,
      `SELECT FROM pgboss.job WHERE name = 'endpoint-call' AND state = 'completed' OFFSET 1`,
    )
    t.equal(receiver.requests.length, 0, 'the jobs came too late')
    const { admin } = test.database
    for (const table of ['outbound_events', 'deliveries', 'delivery_attempts', 'audit_log']) {
      t.equal((await admin.query(`SELECT FROM ${table}`)).rowCount, 0, table)
    }

    t.equal((await send('POST', `${path}/test`)).statusCode, 200)
    t.equal(receiver.requests.length, 1, 'asked again, it is sent once')
    t.equal((await send('POST', `${path}/probe`)).statusCode, 200, 'its turn was given back')
  },
)

t.test('a call whose worker ended is 503 and is not made again', async (t) => {
  const { test, receiver, path, send } = await setUp(t)
  const queue = openQueue(test.database.workerUrl, 'worker', () => {})
  await queue.start()
  t.teardown(() => queue.stop({ graceful: false }))
  const sending = send('POST', `${path}/test`)
  await until(test.database, `SELECT FROM pgboss.job WHERE name = 'endpoint-call'`)
  const [job] = await queue.fetch(endpointCallQueue)
  await queue.fail(endpointCallQueue, String(job?.id), { message: 'the worker stopped responding' })
  const answer = await sending
  t.equal(answer.statusCode, 503)
  t.match(answer.json().detail, 'may have sent something')
  await startCallers(t, test)
  t.equal((await send('POST', `${path}/test`)).statusCode, 200)
  t.equal(receiver.requests.length, 1, 'only the one that was asked for again')
})

t.test('the queue shows nothing of what an endpoint answered', async (t) => {
  const { test, path, send } = await setUp(t)
  await startCallers(t, test)
  t.match((await send('POST', `${path}/test`)).body, 'short and stout')
  const { rows } = await test.database.admin.query(
    `SELECT data, output FROM pgboss.job WHERE name = 'endpoint-call'`,
  )
  t.match(rows, [{ output: { sealed: /^[A-Za-z0-9+/=]+$/ } }])
  t.same(Object.keys(rows[0].output), ['sealed'])
  t.same(Object.keys(rows[0].data).toSorted(), [
    ...['endpointId', 'kind', 'tenantId', 'type', 'userId'],
  ])
})

t.test('a notification wakes a whole worker, which makes the call', async (t) => {
  const { test, receiver, path, send } = await setUp(t)
  const listener = await test.database.admin.connect()
  t.teardown(() => listener.release(true))
  await listener.query(`LISTEN ${jobsChannel}`)
  const notified = once(listener, 'notification')
  const worker = await startWorker(test.config, createLogger('silent'))
  t.teardown(() => worker.stop())
  const tested = await send('POST', `${path}/test`)
  t.match(tested.json(), { status: 'exhausted', attempts: [{ statusCode: 418 }] })
  t.match(await notified, [{ payload: endpointCallQueue }])
  t.equal(receiver.requests.length, 1)
})

t.test('one tenant does not fill a process with requests that wait', async (t) => {
  const { test, one, path, send } = await setUp(t)
  const { queue, answers } = test.app
  const { tenantId } = one
  const jobs = Array.from({ length: maxWaiting }, () => crypto.randomUUID())
  for (const id of jobs) await queue.send(endpointCallQueue, { tenantId }, { id })
  const limits = { takenSeconds: 600, answeredMs: 600_000 }
  const waiting = Promise.allSettled(
    jobs.map((id) => answers.wait({ queue: endpointCallQueue, id, tenantId }, limits)),
  )
  for (const action of ['test', 'probe']) {
    const refused = await send('POST', `${path}/${action}`)
    t.equal(refused.statusCode, 429)
    t.equal(refused.headers['retry-after'], '1')
  }
  const { rowCount } = await test.database.admin.query(
    `SELECT FROM pgboss.job WHERE name = 'endpoint-call'`,
  )
  t.equal(rowCount, maxWaiting, 'no job was added')
  answers.close()
  await waiting
})
