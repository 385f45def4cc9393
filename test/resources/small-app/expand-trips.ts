import t from 'tap'
import { testConfig } from '#dev/testing/settings.ts'
import { buildApp } from '#src/app.ts'
import { createLogger } from '#src/observability/logger.ts'
import { owner } from '#test/support/callers/token-owner.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { startProxy } from '#test/support/database/postgres-proxy.ts'
import { asset } from '#test/support/small-app/test/asset.ts'

t.test('a row with two others in the same response is one packet', async (t) => {
  const database = await createDatabase(t)
  const proxy = await startProxy(t, database.url)
  const config = testConfig({ ...database, url: proxy.through(database.url) })
  const app = await buildApp(config, createLogger('silent'))
  t.teardown(() => app.close())
  const { send } = await owner({ app, config, database, log: [] }, { role: 'admin' })
  const create = async (path: string, body: object) => (await send('POST', path, body)).json().id
  const projectId = await create('/projects', { title: 'A fence' })
  const assetId = await create('/assets', { ...asset.body })
  const id = await create('/issues', { title: 'x', projectId, assetId })
  const read = () => send('GET', `/issues/${id}?expand=project,asset`)
  for (let warm = 0; warm < 4; warm += 1) await read()
  proxy.reset()
  // Sent and not waited for: the response comes although the database never answers it.
  proxy.cutAt('COMMIT')
  t.match((await read()).json(), { project: { id: projectId }, asset: { id: assetId } })
  t.equal(proxy.roundTrips(), 1)
})
