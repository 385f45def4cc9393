import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { testConfig } from '#dev/testing/settings.ts'
import { buildApp } from '#src/app.ts'
import { createLogger } from '#src/observability/logger.ts'
import { build } from '#test/support/app/app.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { startProxy } from '#test/support/database/postgres-proxy.ts'
import { bytesOf, countRows, nothingRecorded, path, send, sign } from './send-event.ts'

const charge = { id: 'evt_1', type: 'charge.succeeded' }
const onceOnly = { known: 1, received: 1, jobs: 1 }

t.test('50 requests with one event at once: one row, one job, all 200', async (t) => {
  const { app, database } = await build(t)
  let refused = 0
  const sendUntilTaken = async () => {
    for (;;) {
      const answer = await send(app, charge)
      if (answer.statusCode !== 503) return answer
      refused += 1 // on a busy machine; the provider sends it again
    }
  }
  const answers = await Promise.all(Array.from({ length: 50 }, sendUntilTaken))
  t.ok(answers.every(({ statusCode }) => statusCode === 200))
  const recorded = answers.filter(({ body }) => body === 'recorded').length
  t.ok(recorded === 1 || (recorded === 0 && refused > 0), `${recorded} recorded`)
  t.equal(answers.filter(({ body }) => body === 'duplicate').length, 50 - recorded)
  t.strictSame(await countRows(database), onceOnly)
})

t.test('event row and job become visible in one commit', async (t) => {
  const { app, database, log } = await build(t)
  await database.admin.query('REVOKE INSERT ON pgboss.job_common FROM test_app')
  const failed = await send(app, charge)
  t.match(failed, { statusCode: 500, body: 'something went wrong' }, 'without details')
  const lines = log.filter((line) => line.includes('webhook not recorded'))
  t.match(lines.join(), 'permission denied', 'the log has the reason')
  t.strictSame(await countRows(database), nothingRecorded, 'no event without its job')
  await database.admin.query('GRANT INSERT ON pgboss.job_common TO test_app')
  t.match(
    await send(app, charge),
    { statusCode: 200, body: 'recorded' },
    'the provider sends it again',
  )
  t.strictSame(await countRows(database), onceOnly)
})

t.test('an event that cannot be recorded in time is 503, and nothing is recorded', async (t) => {
  const { app, database } = await build(t)
  for (const table of ['processed_events', 'received_events', 'pgboss.job_common']) {
    const blocker = await database.admin.connect()
    await blocker.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
    const answer = await send(app, charge)
    t.match(answer, { statusCode: 503, body: 'temporarily unavailable' }, `${table} is locked`)
    t.match(answer.headers, { 'retry-after': '1', 'content-type': /^text\/plain/ })
    await blocker.query('ROLLBACK')
    blocker.release()
    t.strictSame(await countRows(database), nothingRecorded)
  }
  t.match(await send(app, charge), { statusCode: 200, body: 'recorded' })
})

t.test('a database that is down or does not answer is 503', async (t) => {
  for (const fault of ['silence', 'close'] as const) {
    const { app, database, proxy } = await buildBehindProxy(t)
    t.match(await send(app, { ...charge, id: 'evt_0' }), { statusCode: 200 })
    proxy[fault]()
    const answers = await Promise.all(Array.from({ length: 8 }, () => send(app, charge)))
    for (const { statusCode } of answers) t.equal(statusCode, 503, fault)
    t.strictSame(await countRows(database), onceOnly, 'only the earlier event')
  }
})

t.test('events refused at once are counted and logged once a second', async (t) => {
  const { app, database, log } = await build(t)
  const blocker = await database.admin.connect()
  await blocker.query('BEGIN; LOCK TABLE processed_events IN ACCESS EXCLUSIVE MODE')
  const events = Array.from({ length: 40 }, (_, n) => ({ ...charge, id: `evt_${n}` }))
  const answers = await Promise.all(events.map((event) => send(app, event)))
  await blocker.query('ROLLBACK')
  blocker.release()
  t.ok(answers.every(({ statusCode }) => statusCode === 503))
  await app.close()
  const lines = log
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg === 'webhook not recorded')
  t.ok(lines.length <= 3, `${lines.length} lines`)
  t.equal(
    lines.reduce((sum, { failures }) => sum + failures, 0),
    40,
  )
  t.match(lines[0], { level: 'error', err: { stack: String } })
})

t.test('over a real connection', async (t) => {
  const { app, database } = await build(t)
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  const deliver = async (body: Buffer, headers: Record<string, string | string[]>) => {
    const outgoing = request({ host: '127.0.0.1', port, path, method: 'POST', headers })
    // Two writes and no content-length: a chunked body.
    outgoing.write(body.subarray(0, 9))
    outgoing.end(body.subarray(9))
    const [answer] = await once(outgoing, 'response')
    return { statusCode: answer.statusCode, body: await text(answer) }
  }
  const body = bytesOf(charge)
  const signature = sign(body)
  const chunked = await deliver(body, { 'webhook-signature': signature })
  t.match(chunked, { statusCode: 200, body: 'recorded' }, 'a chunked body without a content type')
  const doubled = await deliver(body, { 'webhook-signature': [signature, signature] })
  t.match(doubled, { statusCode: 400, body: 'bad signature' }, 'a doubled header')
  const over = Buffer.alloc(1_048_577, ' ')
  t.match(await deliver(over, { 'webhook-signature': sign(over) }), { statusCode: 413 })

  const socket = connect(Number(port), '127.0.0.1')
  t.teardown(() => socket.destroy())
  const cut = { ...charge, id: 'evt_cut' }
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 99\r\nwebhook-signature: ${sign(bytesOf(cut))}\r\n\r\n`,
  )
  socket.write(bytesOf(cut))
  socket.end()
  await once(socket.resume(), 'close')
  t.strictSame(await countRows(database), onceOnly, 'an incomplete body is not recorded')
})

async function buildBehindProxy(t: Test) {
  const database = await createDatabase(t)
  const proxy = await startProxy(t, database.url)
  const config = testConfig({ ...database, url: proxy.through(database.url) })
  const app = await buildApp(config, createLogger('silent', { write: () => {} }))
  t.teardown(() => app.close())
  return { app, database, proxy }
}
