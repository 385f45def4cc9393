import t, { type Test } from 'tap'
import { createLogger } from '#src/observability/logger.ts'
import { version } from '#src/runtime/assets.ts'
import { start } from '#src/server.ts'
import { testConfig } from '#test/support/app/app.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { startProxy } from '#test/support/database/postgres-proxy.ts'

for (const role of ['web', 'worker', 'all']) {
  t.test(`a process with ROLE=${role} is ready while its database and its queue are`, async (t) => {
    const { database, proxy, look } = await serve(t, role)
    const ready = {
      alive: 200,
      status: 200,
      body: { status: 'ready', schema: version },
      measured: '1',
    }
    t.match(await look(), ready, 'at the start')

    await database.admin.query('ALTER TABLE pgboss.queue RENAME TO gone')
    const body = { status: 'not ready', failing: ['queue'] }
    t.match(await look(), { alive: 200, status: 503, body }, 'the queue cannot be used')
    await database.admin.query('ALTER TABLE pgboss.gone RENAME TO queue')
    t.match(await look(), ready, 'and again')

    proxy.pause()
    t.match(await look(), {
      alive: 200,
      status: 503,
      body: { status: 'not ready', failing: ['database', 'queue'] },
      measured: '0',
    })
    proxy.resume()
    t.match(await look(), ready, 'and again')
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
    async look() {
      const [alive, ready] = await Promise.all([ask('/healthz'), ask('/readyz')])
      const numbers = await (await ask('/metrics')).text()
      const [, measured] = /^gatehouse_database_measured (\d)$/m.exec(numbers) ?? []
      return { alive: alive.status, status: ready.status, body: await ready.json(), measured }
    },
  }
}
