import t, { type Test } from 'tap'
import { testConfig } from '#dev/testing/settings.ts'
import { createLogger } from '#src/observability/logger.ts'
import { lapseMs } from '#src/queue/takeover.ts'
import { endpointTurnQueue } from '#src/webhooks/schedule/due-attempts.ts'
import { startWorker } from '#src/worker.ts'
import type { TestDatabase } from '#test/support/database/database.ts'
import { startQueue } from '#test/support/processes/running-worker.ts'
import { allowing, createOutbox, openReceiver } from '#test/support/receiver/outbox.ts'
import { createEndpoint } from '#test/support/receiver/webhook-endpoint.ts'

t.test('the deliveries of a dead worker continue before their jobs expire', async (t) => {
  const outbox = await createOutbox(t)
  const receiver = await openReceiver(t)
  await createEndpoint(outbox.database, outbox.tenant, { url: receiver.url })
  for (let n = 0; n < 32; n++) await outbox.publish()
  const lost = await startQueue(t, outbox.database, 'worker')
  t.equal((await lost.fetch(endpointTurnQueue, { batchSize: 32 })).length, 1)
  await outbox.database.admin.query('UPDATE pgboss.job SET expire_seconds = 86400')
  await startTestWorker(t, outbox.database, allowing(receiver))
  await outbox.until(`SELECT FROM deliveries HAVING every(status = 'succeeded')`)
})

t.test('a living worker keeps its jobs, however long an attempt takes', async (t) => {
  const outbox = await createOutbox(t)
  const receiver = await openReceiver(t, (_request, response) => {
    setTimeout(() => response.writeHead(204).end(), lapseMs + 3_000)
  })
  await createEndpoint(outbox.database, outbox.tenant, { url: receiver.url })
  await outbox.publish()
  const log: string[] = []
  for (let n = 0; n < 2; n++) await startTestWorker(t, outbox.database, allowing(receiver), log)
  await outbox.until(`SELECT FROM deliveries WHERE status = 'succeeded'`)
  t.equal(receiver.requests.length, 1)
  t.notMatch(log.join(''), /dead worker/)
})

async function startTestWorker(
  t: Test,
  database: TestDatabase,
  settings: Record<string, string>,
  log: string[] = [],
): Promise<void> {
  const logger = createLogger('warn', { write: (line) => void log.push(line) })
  const worker = await startWorker(testConfig(database, settings), logger)
  t.teardown(() => worker.stop())
}
