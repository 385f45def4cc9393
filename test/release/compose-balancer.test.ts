import { readFile } from 'node:fs/promises'
import { Agent } from 'node:http'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { findFreePort } from '#dev/demo/postgres/free-port.ts'
import { checkHistory } from '#test/billing/history.ts'
import { type Instance, startInstance, troublesOf } from '#test/reliability/instance.ts'
import { startLoad, type Target } from '#test/reliability/load.ts'
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts'
import { until } from '#test/support/database/until.ts'
import { caddy, startCaddy } from './caddy.ts'

/*
 * The balancer of compose.yaml, with its own configuration, in front of two processes that are
 * replaced as docs/deployment.md says. Processes stand in for containers: each has an address.
 */

const skip = caddy === null && 'no caddy on this machine: npm does not bring one along'
const compose = parse(await readFile(new URL('../../compose.yaml', import.meta.url), 'utf8'))
const addresses = { 'web-a': '127.0.0.2', 'web-b': '127.0.0.3' }

t.test('replacing one web process after the other fails no request', { skip }, async (t) => {
  const { database, balancer, start } = await setUp(t)
  const old = { a: await start('127.0.0.2'), b: await start('127.0.0.3') }
  const load = await startLoad(t, database, [balancer])
  await load.more(100)

  await stop(t, old.a)
  await load.more(50)
  const a = await start('127.0.0.2')
  await a.says(/"msg":"request"/) // the balancer has seen that it is ready
  await load.more(100)
  await stop(t, old.b)
  await load.more(50)
  const b = await start('127.0.0.3')
  await b.says(/"msg":"request"/)
  await load.more(100)

  await load.stop()
  t.notOk(load.refusals.includes('503 Service Unavailable'), 'one process was always ready')
  t.strictSame(load.failures, [])
  t.strictSame(troublesOf([old.a, old.b, a, b], load), [])
  for (const one of [a, b]) t.match(one.output(), '"msg":"request"', 'both got requests')
  const processed = `SELECT WHERE NOT EXISTS (SELECT FROM received_events WHERE status <> 'processed')`
  await until(database, processed)
  t.strictSame(await checkHistory(database.admin, load.history), [])
  t.comment(`${load.answered()} requests, ${load.busy()} refused by a busy machine`)
})

t.test('without a ready process the balancer asks to come back', { skip }, async (t) => {
  const { balancer } = await setUp(t)
  const response = await fetch(`${balancer.origin}/me`)
  t.equal(response.status, 503)
  t.equal(response.headers.get('retry-after'), '5')
  t.equal(await response.text(), '503 Service Unavailable')
})

type Setting = {
  database: TestDatabase
  balancer: Target
  start(host: string): Promise<Instance>
}

async function setUp(t: Test): Promise<Setting> {
  const database = await createDatabase(t)
  const [port, adminPort, ownPort] = await Promise.all([
    findFreePort(),
    findFreePort(),
    findFreePort(),
  ])
  let caddyfile = compose.configs.balancer.content
    .replace('{$$DOMAIN}', `http://localhost:${ownPort}`)
    .replaceAll(':3000', `:${port}`)
    .replace('9464', String(adminPort))
  for (const [container, process] of Object.entries(addresses)) {
    caddyfile = caddyfile.replaceAll(container, process)
  }
  await startCaddy(t, caddyfile)
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  const start = (host: string) =>
    startInstance(t, database, {
      HOST: host,
      PORT: String(port),
      ADMIN_HOST: host,
      ADMIN_PORT: String(adminPort),
      DRAIN_SECONDS: '3', // the default, which compose.yaml leaves as it is
    })
  const origin = `http://localhost:${ownPort}`
  return { database, balancer: { origin, agent, admin: null }, start }
}

async function stop(t: Test, { child, ended }: Instance): Promise<void> {
  child.kill('SIGTERM')
  t.equal(await ended, 0)
}
