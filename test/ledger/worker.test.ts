import t from 'tap'
import { testConfig } from '#dev/testing/settings.ts'
import { createLogger } from '#src/observability/logger.ts'
import { startWorker } from '#src/worker.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { until } from '#test/support/database/until.ts'

t.test('a worker checks the ledger as soon as it starts, and queues the next check', async (t) => {
  const database = await createDatabase(t)
  const log: string[] = []
  const logger = createLogger('info', { write: (line) => void log.push(line) })
  const worker = await startWorker(testConfig(database), logger)
  await until(
    database,
    `SELECT FROM pgboss.job_common WHERE name = 'ledger' AND state = 'created' AND start_after > now()`,
  )
  await worker.stop()
  const { rows } = await database.admin.query('SELECT unaccounted, kinds FROM ledger_checks')
  t.strictSame(rows, [{ unaccounted: 0, kinds: {} }])
  const line = log.map((text) => JSON.parse(text)).find(({ msg }) => msg === 'ledger checked')
  t.match(line, { unaccounted: 0 })
})
