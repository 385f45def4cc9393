import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Stripe from 'stripe'
import t, { type Test } from 'tap'
import { createOwnerAndDatabase } from '#dev/demo/demo.ts'
import { removePostgres, startPostgres } from '#dev/demo/postgres/start.ts'
import { logins } from '#dev/testing/logins.ts'
import { testConfig, webhookSecret } from '#dev/testing/settings.ts'
import { buildApp } from '#src/app.ts'
import { recorderLimits } from '#src/billing/record.ts'
import { createLogger } from '#src/observability/logger.ts'
import { createMetrics } from '#src/observability/metrics.ts'
import { migrate } from '#src/schema/migrate.ts'
import { build } from '#test/support/app/app.ts'
import { countRows, path, send } from './send-event.ts'

t.test('a thousand requests with one id at once: one row, one job, all 200', async (t) => {
  const { app, database } = await build(t)
  const event = { id: 'evt_1', type: 'charge.succeeded' }
  // A busy machine may refuse some with 503, and a provider sends those again.
  let refused = 0
  const sendUntilAccepted = async () => {
    for (;;) {
      const answer = await send(app, event)
      if (answer.statusCode !== 503) return answer
      refused += 1
    }
  }
  const answers = await Promise.all(Array.from({ length: 1_000 }, sendUntilAccepted))
  t.strictSame(new Set(answers.map(({ statusCode }) => statusCode)), new Set([200]))
  const recorded = answers.filter(({ body }) => body === 'recorded').length
  // The one that recorded it can be among those that were refused for taking too long.
  t.ok(
    recorded === 1 || (recorded === 0 && refused > 0),
    `${recorded} recorded, ${refused} refused`,
  )
  t.strictSame(await countRows(database), { known: 1, received: 1, jobs: 1 })
})

t.test('the limits of the recorder add up to less than 2 s', async (t) => {
  const { waitMs, sendMs, connectMs, beginMs, statementMs } = recorderLimits
  const graceMs = 100
  t.ok(waitMs < sendMs)
  t.ok(sendMs + beginMs + statementMs + graceMs < 2_000, 'sent at the last moment')
  t.ok(waitMs + connectMs + graceMs < 2_000, 'no connection')
})

t.test('database stopped: 503 and nothing recorded; sent again, it is recorded', async (t) => {
  const dataDir = await makeDataDir(t)
  const settings = { fsync: 'off' }
  const first = await startPostgres({ dataDir, settings })
  const urls = (postgres: typeof first) => ({
    superuserUrl: postgres.url('gatehouse'),
    ownerUrl: postgres.url('gatehouse', logins.owner),
    url: postgres.url('gatehouse', logins.app),
    workerUrl: postgres.url('gatehouse', logins.worker),
  })
  await createOwnerAndDatabase(first.url('postgres'), logins.owner)
  await migrate(urls(first))
  const config = testConfig(urls(first))
  const app = await buildApp(config, createLogger('silent'))
  t.teardown(() => app.close())
  t.equal((await send(app, { id: 'before', type: 'charge.succeeded' })).statusCode, 200)

  await first.stop()
  const answers = await Promise.all(
    ['a', 'b', 'c'].map((id) => send(app, { id, type: 'charge.succeeded' })),
  )
  for (const answer of answers) {
    t.equal(answer.statusCode, 503)
    t.ok(Number(answer.headers['retry-after']) >= 1)
  }

  // The database restarts on another port, so the program is restarted too.
  const second = await startPostgres({ dataDir, settings })
  t.teardown(() => second.stop())
  const again = await buildApp(testConfig(urls(second)), createLogger('silent'))
  t.teardown(() => again.close())
  for (const id of ['a', 'b', 'c']) {
    t.equal((await send(again, { id, type: 'charge.succeeded' })).body, 'recorded', id)
  }
  t.equal((await send(again, { id: 'before', type: 'charge.succeeded' })).body, 'duplicate')
})

t.test('an event signed by the official stripe package, header renamed, is accepted', async (t) => {
  const { app } = await build(t)
  const payload = JSON.stringify({ id: 'evt_stripe', type: 'charge.succeeded', note: 'ünï ✓' })
  const stripe = new Stripe('sk_test_unused')
  const sign = (secret: string, timestamp?: number) =>
    stripe.webhooks.generateTestHeaderString({
      payload,
      secret,
      ...(timestamp !== undefined && { timestamp }),
    })
  const post = (header: string) =>
    app.inject({ method: 'POST', url: path, payload, headers: { 'webhook-signature': header } })
  t.equal((await post(sign(webhookSecret))).body, 'recorded')
  t.equal((await post(sign('another secret entirely'))).body, 'bad signature')
  const old = Math.floor(Date.now() / 1000) - 1_000
  t.equal((await post(sign(webhookSecret, old))).body, 'timestamp outside tolerance')
})

t.test('a fault of ours is counted as such, and not as a bad request', async (t) => {
  const { config, database } = await build(t)
  const metrics = createMetrics()
  const app = await buildApp(config, createLogger('silent'), metrics)
  t.teardown(() => app.close())
  await database.admin.query('REVOKE INSERT ON pgboss.job_common FROM test_app')
  t.equal((await send(app, { id: 'evt_1', type: 'charge.succeeded' })).statusCode, 500)
  const { values } = await metrics.billing.requests.get()
  const counted = values.filter(({ value }) => value > 0)
  t.match(counted, [{ labels: { outcome: 'failed' }, value: 1 }])
  t.equal(counted.length, 1)
})

t.test('each outcome and each stage is counted', async (t) => {
  const { config } = await build(t, { RATE_LIMIT_WEBHOOKS: '11/60' })
  const metrics = createMetrics()
  const app = await buildApp(config, createLogger('silent'), metrics)
  t.teardown(() => app.close())
  const event = { id: 'evt_1', type: 'charge.succeeded' }
  await send(app, event)
  await send(app, event)
  await send(app, { ...event, note: 'another body' })
  await send(app, { id: 'evt_2', type: 'invoice.voided' })
  await send(app, event, { secret: 'a secret that is not configured' })
  await send(app, event, { time: 1 })
  await send(app, 'no event')
  await send(app, Buffer.alloc(1_048_577, 32))
  await send(app, event, { headers: { 'content-encoding': 'gzip' } })
  const admin = metrics.billing.requests
  const { values } = await admin.get()
  const counts = Object.fromEntries(values.map(({ labels, value }) => [labels.outcome, value]))
  t.same(counts, {
    recorded: 1,
    ignored: 1,
    duplicate: 1,
    duplicate_different_body: 1,
    bad_signature: 1,
    outside_tolerance: 1,
    malformed: 1,
    encoded: 1,
    too_large: 1,
    rate_limited: 0,
    over_budget: 0,
    unavailable: 0,
    failed: 0,
  })
  await send(app, event)
  await send(app, event)
  await send(app, event)
  const text = await metrics.registry.metrics()
  t.match(text, /requests_total\{outcome="rate_limited"\} 1/)
  t.match(text, /gatehouse_webhook_stage_seconds_count\{stage="verify"\} [1-9]/)
  t.match(text, /gatehouse_webhook_stage_seconds_count\{stage="record"\} [1-9]/)
  t.match(text, /gatehouse_webhook_batch_events_count [1-9]/)
})

async function makeDataDir(t: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-stopped-'))
  await chmod(folder, 0o711)
  const dataDir = join(folder, 'data')
  t.teardown(async () => {
    await removePostgres(dataDir)
    await rm(folder, { recursive: true })
  })
  return dataDir
}
