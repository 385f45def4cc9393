import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import type { RecordedRequest } from '#dev/testing/receiver.ts'
import { testConfig } from '#dev/testing/settings.ts'
import { createLogger } from '#src/observability/logger.ts'
import { startWorker, type Worker } from '#src/worker.ts'
import type { TestDatabase } from '#test/support/database/database.ts'
import { miscountedDeliveries } from '#test/support/receiver/delivery.ts'
import { allowing, createOutbox, openReceiver } from '#test/support/receiver/outbox.ts'
import { createEndpoint, endpointSecret } from '#test/support/receiver/webhook-endpoint.ts'

t.test('an event arrives signed, and its delivery succeeds', async (t) => {
  const outbox = await createOutbox(t)
  const receiver = await openReceiver(t)
  const endpointId = await createEndpoint(outbox.database, outbox.tenant, {
    url: `${receiver.url}/hook?a=b`,
  })
  await startTestWorker(t, outbox.database, allowing(receiver))
  const eventId = await outbox.publish({ data: { id: 7, note: 'Zoë' } })
  const request = await receiver.next()
  t.match(request, { method: 'POST', url: '/hook?a=b' })
  t.match(request.headers, {
    'content-type': 'application/json',
    'webhook-id': eventId,
    'webhook-timestamp': /^\d{10}$/,
    'user-agent': /./,
  })
  t.match(JSON.parse(request.body.toString()), {
    id: eventId,
    type: 'order.updated',
    createdAt: /Z$/,
    data: { id: 7, note: 'Zoë' },
  })
  const timestamp = String(request.headers['webhook-timestamp'])
  const digest = createHmac('sha256', endpointSecret)
    .update(`${timestamp}.`)
    .update(request.body)
    .digest('base64')
  t.equal(request.headers['webhook-signature'], `v1,${digest}`)
  await outbox.until(`SELECT FROM deliveries WHERE status = 'succeeded'`)
  t.match(await outbox.deliveries(), [
    {
      event_id: eventId,
      endpoint_id: endpointId,
      next_attempt_at: null,
      attempts: [{ series: 0, number: 1, status_code: 204, error: null }],
    },
  ])
  await outbox.until(`SELECT count(*) FROM due_attempts HAVING count(*) = 0`)
})

t.test('the official library verifies a delivery signed as Standard Webhooks', async (t) => {
  const outbox = await createOutbox(t)
  const receiver = await openReceiver(t)
  for (const signature of ['standard', 'both'] as const) {
    await createEndpoint(outbox.database, outbox.tenant, { url: receiver.url, signature })
  }
  await startTestWorker(t, outbox.database, allowing(receiver))
  const eventId = await outbox.publish()
  for (const { body, headers } of [await receiver.next(), await receiver.next()]) {
    t.match(new Webhook(endpointSecret).verify(body, flat(headers)), { id: eventId })
    t.throws(() => new Webhook(endpointSecret).verify(`${body} `, flat(headers)))
  }
})

t.test(
  'a failed attempt is retried with the same id and bytes, and its own signature',
  async (t) => {
    const outbox = await createOutbox(t)
    const statuses = [500, 302, 204]
    const receiver = await openReceiver(t, (_request, response) => {
      const status = statuses.shift() ?? 500
      response.writeHead(status, { location: 'https://elsewhere.example' }).end('what went on')
    })
    await createEndpoint(outbox.database, outbox.tenant, { url: receiver.url })
    await startTestWorker(t, outbox.database, {
      ...allowing(receiver),
      OUTBOUND_RETRY_SECONDS: '0,1,1,1',
    })
    await outbox.publish()
    const requests = [await receiver.next(), await receiver.next(), await receiver.next()]
    t.equal(new Set(requests.map(({ headers }) => headers['webhook-id'])).size, 1)
    t.equal(new Set(requests.map(({ body }) => body.toString())).size, 1)
    t.equal(new Set(requests.map(({ headers }) => headers['webhook-timestamp'])).size, 3)
    t.equal(new Set(requests.map(({ headers }) => headers['webhook-signature'])).size, 3)
    await outbox.until(`SELECT FROM deliveries WHERE status = 'succeeded'`)
    t.match(await outbox.deliveries(), [
      {
        attempts: [
          { number: 1, status_code: 500, error: null, response_excerpt: 'what went on' },
          { number: 2, status_code: 302, error: null },
          { number: 3, status_code: 204 },
        ],
      },
    ])
  },
)

t.test('deliveries to healthy endpoints succeed while another endpoint hangs', async (t) => {
  const outbox = await createOutbox(t)
  const hanging = await openReceiver(t, () => {})
  const healthy = await openReceiver(t)
  for (let n = 0; n < 5; n++) {
    await createEndpoint(outbox.database, outbox.tenant, { url: `${healthy.url}/${n}` })
  }
  const hangingId = await createEndpoint(outbox.database, outbox.tenant, { url: hanging.url })
  // No attempt times out meanwhile, also on a slow machine: each request is in progress.
  const settings = { ...allowing(hanging, healthy), OUTBOUND_TIMEOUT_MS: '30000' }
  await startTestWorker(t, outbox.database, settings)
  const events = 60 // more than an endpoint may have in progress
  for (let n = 0; n < events; n++) await outbox.publish()
  for (let n = 0; n < events * 5; n++) await healthy.next()
  await outbox.until(
    `SELECT FROM deliveries WHERE endpoint_id <> '${hangingId}' HAVING every(status = 'succeeded')`,
  )
  t.ok(hanging.requests.length > 0, 'the other endpoint was called')
  t.ok(hanging.requests.length <= 32, 'within its limit of attempts in progress')
  const { rows } = await outbox.database.admin.query(
    `SELECT DISTINCT status FROM deliveries WHERE endpoint_id = $1`,
    [hangingId],
  )
  t.strictSame(rows, [{ status: 'pending' }], 'its deliveries are pending')
})

const lostTurns = {
  'a turn with the endpoint of another tenant': `UPDATE pgboss.job
    SET data = jsonb_set(data, '{tenantId}', to_jsonb(gen_random_uuid()::text)) WHERE name = 'endpoint-turn'`,
  'a turn of a closed tenant': 'UPDATE tenants SET closed_at = now()',
}

for (const [name, change] of Object.entries(lostTurns)) {
  t.test(`${name} ends without a delivery`, async (t) => {
    const outbox = await createOutbox(t)
    const { database, tenant } = outbox
    const receiver = await openReceiver(t)
    await createEndpoint(database, tenant, { url: receiver.url })
    await outbox.publish()
    await database.admin.query(change)
    await startTestWorker(t, database, allowing(receiver))
    await outbox.until(
      `SELECT FROM pgboss.job WHERE name = 'endpoint-turn' AND state = 'completed'`,
    )
    t.strictSame(receiver.requests, [])
    t.match(await outbox.deliveries(), [{ status: 'pending', attempts: [] }])
  })
}

t.test('while the database is read-only, the result of an attempt is kept', async (t) => {
  const outbox = await createOutbox(t)
  const { database, tenant } = outbox
  const name = new URL(database.url).pathname.slice(1)
  const setReadOnly = async (mode: 'on' | 'off') => {
    await database.admin.query(`ALTER DATABASE ${name} SET default_transaction_read_only = ${mode}`)
    await database.admin.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND usename = 'test_worker'`,
    )
  }
  const held = Promise.withResolvers<void>()
  const receiver = await openReceiver(t, async (_request, response) => {
    await held.promise
    response.writeHead(204).end()
  })
  await createEndpoint(database, tenant, { url: receiver.url })
  await startTestWorker(t, database, allowing(receiver))
  await outbox.publish()
  await receiver.next()
  await setReadOnly('on')
  held.resolve()
  await new Promise((resolve) => setTimeout(resolve, 500)) // several tries to record it
  t.match(await outbox.deliveries(), [{ status: 'pending', attempts: [] }])
  await setReadOnly('off')
  await outbox.until(`SELECT FROM deliveries WHERE status = 'succeeded'`)
  t.equal(receiver.requests.length, 1, 'it is not sent again')
})

t.test('a stopping worker returns its jobs, and another one continues', async (t) => {
  const outbox = await createOutbox(t)
  const receiver = await openReceiver(t, () => {})
  await createEndpoint(outbox.database, outbox.tenant, { url: receiver.url })
  const first = await startTestWorker(t, outbox.database, allowing(receiver))
  await outbox.publish()
  await receiver.next()
  await first.stop()
  t.match(await outbox.deliveries(), [{ status: 'pending', attempts: [] }])
  receiver.respond((_request, response) => response.writeHead(204).end())
  await startTestWorker(t, outbox.database, allowing(receiver))
  await receiver.next()
  await outbox.until(`SELECT FROM deliveries WHERE status = 'succeeded'`)
  t.match(await outbox.deliveries(), [{ attempts: [{ number: 1, status_code: 204 }] }])
})

t.test('attempts are counted with their delivery', async (t) => {
  const outbox = await createOutbox(t)
  const receiver = await openReceiver(t, (_request, response) =>
    response.writeHead(500).end('Größe'),
  )
  await createEndpoint(outbox.database, outbox.tenant, { url: `${receiver.url}/hook` })
  await startTestWorker(t, outbox.database, {
    ...allowing(receiver),
    OUTBOUND_RETRY_SECONDS: '0,0,0',
  })
  await outbox.publish()
  await outbox.until(`SELECT FROM deliveries WHERE status = 'exhausted' AND stored_attempts = 3`)
  t.strictSame(await miscountedDeliveries(outbox.database), [])
})

async function startTestWorker(
  t: Test,
  database: TestDatabase,
  settings: Record<string, string>,
): Promise<Worker> {
  const logger = createLogger('warn', { write: (line) => t.comment(line) })
  const worker = await startWorker(testConfig(database, settings), logger)
  let stopping: Promise<void> | null = null
  const stop = () => {
    stopping ??= worker.stop()
    return stopping
  }
  t.teardown(stop)
  return { ...worker, stop }
}

function flat(headers: RecordedRequest['headers']): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}
