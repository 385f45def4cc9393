import t, { type Test } from 'tap'
import { signIn } from '#dev/testing/people.ts'
import { encryptionKey, testConfig } from '#dev/testing/settings.ts'
import { createLogger } from '#src/observability/logger.ts'
import { createMetrics } from '#src/observability/metrics.ts'
import { startWorker } from '#src/worker.ts'
import { build } from '#test/support/app/app.ts'
import { twoAdmins } from '#test/support/callers/webhook-admin.ts'
import type { TestDatabase } from '#test/support/database/database.ts'
import { startCallers } from '#test/support/receiver/endpoint-calls.ts'
import { allowing, createOutbox, openReceiver } from '#test/support/receiver/outbox.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

const otherKey = `other:${'b'.repeat(43)}`

t.test('a secret that a worker cannot decrypt uses up no attempt of the customer', async (t) => {
  const outbox = await createOutbox(t)
  const { database, tenant } = outbox
  const receiver = await openReceiver(t)
  await createEndpoint(database, tenant, { url: receiver.url })
  const settings = { ...allowing(receiver), OUTBOUND_RETRY_SECONDS: '0' }
  const lacking = await startTestWorker(t, database, { ...settings, ENCRYPTION_KEYS: otherKey })
  await outbox.publish()
  await outbox.until(`SELECT FROM pgboss.job WHERE name = 'endpoint-turn' AND state = 'retry'`)
  t.equal(receiver.requests.length, 0)
  t.match(await outbox.deliveries(), [{ status: 'pending', attempts: [] }])
  t.match(await stateOf(database), [{ status: 'active', failing_since: null }])
  t.ok((await lacking.postponed('secret')) > 0, 'the metric counts it')
  t.match(lacking.errors, [{ msg: /postponed/, err: { message: /unknown-key \(key test\)/ } }])
  await lacking.stop()

  const knowing = { ...settings, ENCRYPTION_KEYS: `${otherKey},${encryptionKey}` }
  await startTestWorker(t, database, knowing)
  await outbox.until(`SELECT FROM deliveries WHERE status = 'succeeded'`)
  t.match(await outbox.deliveries(), [{ attempts: [{ number: 1, status_code: 204 }] }])
  t.equal(receiver.requests.length, 1)
})

t.test('a test event that we cannot sign is 503, and nothing is recorded', async (t) => {
  const { test, one } = await twoAdmins(await build(t))
  const { database } = test
  const endpointId = await createEndpoint(database, one, { url: 'https://8.8.8.8/' })
  const lacking = await build(t, { ENCRYPTION_KEYS: otherKey }, { database: test.config.database })
  await startCallers(t, lacking)
  const { cookie } = await signIn({ ...lacking, database }, one)
  const answer = await lacking.app.inject({
    method: 'POST',
    url: `/webhook-endpoints/${endpointId}/test`,
    headers: { cookie, 'sec-fetch-site': 'same-origin' },
  })
  t.equal(answer.statusCode, 503)
  t.ok(answer.headers['retry-after'])
  const { rows } = await database.admin.query('SELECT FROM deliveries')
  t.equal(rows.length, 0)
})

async function stateOf({ admin }: TestDatabase) {
  const { rows } = await admin.query('SELECT status, failing_since FROM endpoint_states')
  return rows
}

async function startTestWorker(t: Test, database: TestDatabase, settings: Record<string, string>) {
  const errors: unknown[] = []
  const logger = createLogger('error', { write: (line) => void errors.push(JSON.parse(line)) })
  const metrics = createMetrics()
  const worker = await startWorker(testConfig(database, settings), logger, metrics)
  let stopping: Promise<void> | undefined
  const stop = () => (stopping ??= worker.stop())
  t.teardown(stop)
  return {
    errors,
    stop,
    async postponed(reason: string): Promise<number> {
      const { values } = await metrics.outbound.postponed.get()
      return values.find(({ labels }) => labels.reason === reason)?.value ?? 0
    },
  }
}
