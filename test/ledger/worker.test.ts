import t from 'tap'
import { testConfig } from '#dev/testing/settings.ts'
import { createLogger } from '#src/observability/logger.ts'
import { startWorker } from '#src/worker.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { until } from '#test/support/database/until.ts'

t.test('a worker seals and checks the ledger, and the log keeps its newest hash', async (t) => {
  const database = await createDatabase(t)
  const log: string[] = []
  const logger = createLogger('info', { write: (line) => void log.push(line) })
  const worker = await startWorker(testConfig(database), logger)
  await until(
    database,
    `SELECT FROM pgboss.job_common WHERE name = 'ledger' AND state = 'created' AND start_after > now()`,
  )
  await worker.stop()
  const { rows } = await database.admin.query(
    `SELECT encode(l.hash, 'hex') AS head, c.unaccounted, c.whole
     FROM ledger l, ledger_checks c WHERE c.head = encode(l.hash, 'hex')`,
  )
  t.match(rows, [{ unaccounted: 0, whole: true }])
  const line = log.map((text) => JSON.parse(text)).find(({ msg }) => msg === 'ledger checked')
  t.match(line, { unaccounted: 0, rows: 1, head: rows[0]?.head })
})
