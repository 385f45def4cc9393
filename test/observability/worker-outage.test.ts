import t from 'tap'
import { testConfig } from '#dev/testing/settings.ts'
import { createLogger } from '#src/observability/logger.ts'
import { startWorker } from '#src/worker.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { startProxy } from '#test/support/database/postgres-proxy.ts'
import { untilTrue } from '#test/support/database/until.ts'

const linesAwaited = 4
const shortestSecondMs = 990 // a timer may fire a moment early

t.test(
  'a worker without its database logs at most one line a second, without a stack',
  async (t) => {
    const database = await createDatabase(t)
    const proxy = await startProxy(t, database.url)
    const urls = { url: proxy.through(database.url), workerUrl: proxy.through(database.workerUrl) }
    const lines: Record<string, unknown>[] = []
    const logger = createLogger('info', { write: (line) => void lines.push(JSON.parse(line)) })
    const worker = await startWorker(testConfig({ ...database, ...urls }), logger)
    t.teardown(() => worker.stop())
    lines.length = 0

    const affected = () => new Set(lines.flatMap((line) => line.affected))

    const since = performance.now()
    proxy.pause()
    // Consumers wait to be woken, so the question which jobs are due is what surely fails.
    await untilTrue(
      () => lines.length >= linesAwaited && affected().has('due jobs could not be looked up'),
    )
    const seconds = (performance.now() - since) / shortestSecondMs
    t.ok(lines.length <= seconds + 1, `${lines.length} lines in ${seconds} seconds`)
    for (const line of lines) {
      t.match(line, { level: 'error', msg: 'the database is unavailable', reason: String })
    }
    t.notMatch(JSON.stringify(lines), /"stack"| {4}at /)
    const failures = lines.reduce((sum, line) => sum + Number(line.failures), 0)
    t.ok(failures > lines.length, `${failures} failures`)
    t.ok(affected().size > 1, `${[...affected()]}`)

    proxy.resume()
  },
)
