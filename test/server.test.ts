import { isDeepStrictEqual } from 'node:util'
import t, { type Test } from 'tap'
import { testConfig } from '#dev/testing/settings.ts'
import { createLogger } from '#src/observability/logger.ts'
import { version } from '#src/runtime/assets.ts'
import { start } from '#src/server.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { startProxy } from '#test/support/database/postgres-proxy.ts'
import { untilTrue } from '#test/support/database/until.ts'

for (const role of ['web', 'worker', 'all']) {
  t.test(`a process with ROLE=${role} is ready while its database and its queue are`, async (t) => {
    const { database, proxy, untilFound } = await serve(t, role)
    const ready = {
      status: 200,
      body: { status: 'ready', release: version, schema: version },
      measured: '1',
    }
    const failing = (...names: string[]) => ({
      status: 503,
      body: { status: 'not ready', failing: names, release: version },
    })
    await untilFound(ready, 'at the start')

    await database.admin.query('ALTER TABLE pgboss.queue RENAME TO gone')
    await untilFound(failing('queue'), 'the queue cannot be used')
    await database.admin.query('ALTER TABLE pgboss.gone RENAME TO queue')
    await untilFound(ready, 'and again')

    proxy.pause()
    await untilFound({ ...failing('database', 'queue'), measured: '0' }, 'the database is away')
    proxy.resume()
    await untilFound(ready, 'and again')
  })
}

async function serve(t: Test, role: string) {
  const database = await createDatabase(t)
  const proxy = await startProxy(t, database.url)
  const urls = {
    ...database,
    url: proxy.through(database.url),
    workerUrl: proxy.through(database.workerUrl),
  }
  const running = await start(testConfig(urls, { ROLE: role }), createLogger('silent'))
  t.teardown(() => running.stop())
  const ask = (path: string) => fetch(`${running.adminAddress}${path}`)
  return {
    database,
    proxy,
    /** Looks until all of this is found: a connection that is opened late fails other checks, too. */
    async untilFound(expected: object, name: string) {
      await untilTrue(async () => {
        const [alive, ready] = await Promise.all([ask('/healthz'), ask('/readyz')])
        const numbers = await (await ask('/metrics')).text()
        const [, measured] = /^gatehouse_database_measured (\d)$/m.exec(numbers) ?? []
        t.equal(alive.status, 200, 'alive')
        const found = { status: ready.status, body: await ready.json(), measured }
        return isDeepStrictEqual({ ...found, ...expected }, found)
      })
      t.pass(name)
    },
  }
}
