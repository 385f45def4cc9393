import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import type { TestUser } from '#dev/testing/people.ts'
import type { Receiver } from '#dev/testing/receiver.ts'
import { testSettings } from '#dev/testing/settings.ts'
import { version as release } from '#src/runtime/assets.ts'
import { checkHistory } from '#test/billing/history.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { startProxy } from '#test/support/database/postgres-proxy.ts'
import { until, untilTrue } from '#test/support/database/until.ts'
import { runProgram } from '#test/support/processes/program.ts'
import { allowing, openReceiver } from '#test/support/receiver/outbox.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'
import {
  ask,
  askPatiently,
  type Instance,
  startInstance,
  troublesOf,
  untilReadiness,
} from './instance.ts'
import { startLoad } from './load.ts'

/** `npm run crash` sets many. */
const rounds = Number(process.env.STOP_ROUNDS ?? 0)

t.test(
  'SIGTERM under load: no request is dropped, and jobs in progress finish or move to another process',
  async (t) => {
    const database = await createDatabase(t)
    const receiver = await openReceiver(t, () => {}) // hangs
    const settings = { ...allowing(receiver), OUTBOUND_TIMEOUT_MS: '30000' }
    const first = await startInstance(t, database, settings)
    const load = await startLoad(t, database, [first])
    const endpoint = { url: receiver.url, eventTypes: ['post.updated'] }
    const endpointId = await createEndpoint(database, load.user, endpoint)
    const { cookie } = load
    await createAndChangePost(t, first, cookie)
    await receiver.next() // the delivery is in progress, in the only process
    t.pass('a delivery is in progress')
    const second = await startInstance(t, database, settings)
    load.instances.push(second)

    const stream = await openStream(database, first, { ...load, endpointId })
    const bystanders = await Promise.all([openIdle(first), openSilent(first)])
    await load.more(100)
    receiver.respond((_request, response) => response.writeHead(204).end())
    const begun = performance.now()
    first.child.kill('SIGTERM')
    const [status] = await Promise.all([
      first.ended,
      stream.ended,
      ...bystanders.map(({ ended }) => ended),
    ])
    t.equal(status, 0, 'no phase exceeded its limit')
    const stoppedMs = Math.round(performance.now() - begun)

    await load.more(50)
    await load.stop()
    t.strictSame(load.failures, [])
    t.strictSame(troublesOf([first, second], load), [])
    const none = (rows: string) => `SELECT count(*) FROM ${rows} HAVING count(*) = 0`
    await until(database, none(`received_events WHERE status <> 'processed'`))
    await until(database, none(`deliveries WHERE status = 'pending'`))
    t.strictSame(await checkHistory(database.admin, load.history), [])
    await receiver.next() // the interrupted delivery was repeated by the other process
    const repeated = receiver.requests.length - 1
    t.ok(repeated === 1 || load.busy() > 0, 'once, unless a busy machine could not record that')
    t.comment(`${load.answered()} requests (${load.busy()} refused), stopped in ${stoppedMs} ms`)

    await t.test('a hanging handler is aborted at the limit', async (t) => {
      const web = await startInstance(t, database, { ...settings, ROLE: 'web' })
      const hanging = await hang(receiver, web, { cookie, endpointId })
      web.child.kill('SIGTERM')
      t.equal(await web.ended, 1)
      await t.rejects(hanging.answer)
      t.match(web.output(), /"phase":"requests".*shutdown phase aborted/)
    })
  },
)

t.test('a second signal ends the process at once', async (t) => {
  const database = await createDatabase(t)
  const instance = await startInstance(t, database, { ROLE: 'web', DRAIN_SECONDS: '300' })
  const silent = await openSilent(instance)
  instance.child.kill('SIGTERM')
  await untilReadiness(instance, { status: 'not ready', failing: ['stopping'], release })
  const answer = await ask(instance, { path: '/' })
  t.match(answer, { status: 200, headers: { connection: 'close' } }, 'still served')
  instance.child.kill('SIGTERM')
  t.equal(await instance.ended, 1)
  await silent.ended
})

t.test('a signal ends a process that has not started yet', async (t) => {
  const database = await createDatabase(t)
  const proxy = await startProxy(t, database.url)
  proxy.silence()
  const settings = { ...testSettings(database), DATABASE_URL: proxy.through(database.url) }
  const program = await runProgram(t, ['serve'], settings)
  await untilTrue(() => proxy.roundTrips() > 0)
  program.child.kill('SIGTERM')
  t.equal(await program.ended, 0)
  t.notMatch(program.output(), /listening|"level":"error"/)
})

t.test(
  'many processes, each stopped under load',
  { skip: rounds === 0 && 'set STOP_ROUNDS, as npm run crash does' },
  async (t) => {
    const database = await createDatabase(t)
    let current = await startInstance(t, database)
    const load = await startLoad(t, database, [current])
    for (let round = 0; round < rounds && load.failures.length === 0; round++) {
      const next = await startInstance(t, database)
      load.instances.push(next)
      await load.more(50)
      current.child.kill('SIGTERM')
      t.equal(await current.ended, 0)
      load.instances.splice(0, 1)
      current = next
    }
    await load.stop()
    t.strictSame(load.failures, [], { requests: load.answered() })
  },
)

/** A change that publishes `post.updated`. */
async function createAndChangePost(t: Test, instance: Instance, cookie: string): Promise<void> {
  const headers = { cookie, 'content-type': 'application/json' }
  const body = '{"title":"A","body":"B"}'
  const made = await askPatiently(instance, { method: 'POST', path: '/posts', headers, body })
  t.equal(made.status, 201, made.body)
  const change = { method: 'PATCH', headers, body: '{"title":"C"}' }
  const path = `/posts/${JSON.parse(made.body).id}`
  const changed = await askPatiently(instance, { ...change, path })
  t.equal(changed.status, 200, changed.body)
}

/** The event stream of a replay that makes no progress; resolves once it is open. */
async function openStream(
  { admin }: TestDatabase,
  { origin }: Instance,
  { user, cookie, endpointId }: { user: TestUser; cookie: string; endpointId: string },
) {
  const { rows } = await admin.query<{ id: string }>(
    `INSERT INTO endpoint_replays (tenant_id, endpoint_id, replay_from, replay_to, total)
     VALUES ($1, $2, now(), now(), 1) RETURNING id`,
    [user.tenantId, endpointId],
  )
  const path = `/app/webhooks/${endpointId}/replays/${rows[0]?.id}/events`
  const answer = await fetch(`${origin}${path}`, { headers: { cookie } })
  return { ended: answer.text() }
}

/** A keep-alive connection after one request; resolves once the server closes it. */
async function openIdle(instance: Instance): Promise<{ ended: Promise<unknown> }> {
  const socket = connectTo(instance)
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
  await once(socket, 'data')
  socket.resume()
  return { ended: once(socket, 'close') }
}

/** A connection without a request, as browsers open in advance. */
async function openSilent(instance: Instance): Promise<{ ended: Promise<unknown> }> {
  const socket = connectTo(instance)
  await once(socket, 'connect')
  socket.resume()
  return { ended: once(socket, 'close') }
}

function connectTo({ origin }: Instance): Socket {
  return connect(Number(new URL(origin).port), '127.0.0.1')
}

/** A request whose handler waits for a worker, which waits for a response that never arrives. */
async function hang(
  receiver: Receiver,
  instance: Instance,
  { cookie, endpointId }: { cookie: string; endpointId: string },
): Promise<{ answer: Promise<unknown> }> {
  receiver.respond(() => {})
  const asked = receiver.next()
  const path = `/webhook-endpoints/${endpointId}/test`
  const answer = askPatiently(instance, { method: 'POST', path, headers: { cookie } })
  const early = answer.then(({ status, body }) => Promise.reject(new Error(`${status} ${body}`)))
  await Promise.race([asked, early])
  return { answer }
}
