import { once } from 'node:events'
import { Agent, createServer } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { findFreePort } from '#dev/demo/postgres/free-port.ts'
import { checkHistory } from '#test/billing/history.ts'
import { type Instance, startInstance, troublesOf } from '#test/reliability/instance.ts'
import { startLoad } from '#test/reliability/load.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { until, untilTrue } from '#test/support/database/until.ts'
import { haproxy, haproxySettings, startHaproxy } from './haproxy.ts'

/*
 * docs/deployment/haproxy.cfg in front of two web processes, without TLS.
 */

const skip = haproxy === null && 'no haproxy on this machine: npm does not bring one along'

t.test('HAProxy: a restart and a slow check fail no request', { skip }, async (t) => {
  const database = await createDatabase(t)
  const [webPort = 0, own = 0, postgres = 0] = await Promise.all(
    Array.from({ length: 3 }, () => findFreePort()),
  )
  const hosts = ['127.0.0.2', '127.0.0.3']
  const checks = await Promise.all(hosts.map((host) => startChecks(t, host)))
  const start = async (index: number) => {
    const instance = await startInstance(t, database, {
      ...{ HOST: hosts[index] ?? '', PORT: String(webPort), DRAIN_SECONDS: '3' },
    })
    checks[index]?.leadTo(instance.admin)
    return instance
  }
  const first = [await start(0), await start(1)]
  const webs = hosts.map((host, index) => ({
    ...{ host, port: webPort, checkPort: checks[index]?.port ?? 0 },
  }))
  const settings = await haproxySettings(own, webs, { port: postgres, servers: [] })
  const balancer = await startHaproxy(t, settings, own)
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  const origin = `http://127.0.0.1:${own}`
  await untilTrue(async () => (await fetch(`${origin}/me`)).status === 401)
  const load = await startLoad(t, database, [{ origin, agent, admin: null }])
  await load.more(100)

  await Promise.all(checks.map((one) => one.slowOnce()))
  await load.more(100)
  t.strictSame(load.failures, [], 'both are checked slowly once')

  const all = [...first]
  for (const [index, old] of first.entries()) {
    await stop(t, old)
    await load.more(50)
    all.push(await start(index))
    await untilTrue(async () => isLastUp(balancer.output(), `webs/web${index + 1}`))
    await load.more(50)
  }
  await load.stop()
  const wasAway = load.refusals.includes('temporarily unavailable')
  t.notOk(wasAway, 'one process was always ready', { log: balancer.output() })
  t.strictSame(load.failures, [], 'both are replaced')
  t.strictSame(troublesOf(all, load), [])
  for (const one of all) t.match(one.output(), '"msg":"request"', 'each got requests')
  const processed = `SELECT WHERE NOT EXISTS (SELECT FROM received_events WHERE status <> 'processed')`
  await until(database, processed)
  t.strictSame(await checkHistory(database.admin, load.history), [])
  t.comment(`${load.answered()} requests, ${load.busy()} refused by a busy machine`)
})

/** Whether HAProxy's last notice about this server is that it is up. */
function isLastUp(log: string, server: string): boolean {
  const notices = log.split('\n').filter((line) => line.includes(`Server ${server} is `))
  return notices.at(-1)?.includes(' is UP') ?? false
}

async function stop(t: Test, { child, ended }: Instance): Promise<void> {
  child.kill('SIGTERM')
  t.equal(await ended, 0)
}

// Longer than `inter`, shorter than `timeout check`.
const slowMs = 1_000

/** Between HAProxy and the admin listener of a process, so that an answer can be late. */
async function startChecks(t: Test, host: string) {
  let admin: string | null = null
  let slow: (() => void) | null = null
  const server = createServer(async (_request, response) => {
    const late = slow
    slow = null
    if (late !== null) await wait(slowMs)
    const answer = await fetch(`${admin}/readyz`).catch(() => null)
    response.writeHead(answer?.status ?? 503).end()
    late?.()
  }).listen(0, host)
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    leadTo(origin: string) {
      admin = origin
    },
    /** Resolves once a check has been answered late. */
    slowOnce: () =>
      new Promise<void>((resolve) => {
        slow = resolve
      }),
  }
}
