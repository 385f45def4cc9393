import { once } from 'node:events'
import { Agent, createServer } from 'node:http'
import pg from 'pg'
import type { Test } from 'tap'
import { createOwnerAndDatabase } from '#dev/demo/demo.ts'
import { findFreePort } from '#dev/demo/postgres/free-port.ts'
import { logins, urlsOf } from '#dev/testing/logins.ts'
import { testSettings } from '#dev/testing/settings.ts'
import { noRedis, startRedis } from '#test/instances/redis.ts'
import { haproxySettings, startHaproxy } from '#test/release/haproxy.ts'
import { type Instance, startInstance } from '#test/reliability/instance.ts'
import { startOwnServer } from '#test/reliability/own-server.ts'
import { noPatroni, type PatroniCluster, startPatroni } from '#test/reliability/patroni.ts'
import type { TestDatabase } from '#test/support/database/database.ts'
import { type Pooler, startPgbouncer } from '#test/support/database/pgbouncer.ts'
import { type Program, runProgram } from '#test/support/processes/program.ts'

type Scope = Pick<Test, 'teardown'>

const name = 'trial'
const serverConnections = 30 // as in docs/deployment/pgbouncer.ini

/** A database under Patroni, or one server where there is no Patroni; without its schema. */
export async function startDatabase(
  scope: Scope,
): Promise<{ database: TestDatabase; cluster: PatroniCluster | null }> {
  if (noPatroni !== false) return { database: await startOwnServer(scope), cluster: null }
  const cluster = await startPatroni(scope)
  await createOwnerAndDatabase(cluster.url('postgres'), logins.owner, name)
  const urls = urlsOf(cluster.url('postgres'), name)
  const admin = new pg.Pool({ connectionString: urls.superuserUrl, max: 2 })
  admin.on('error', () => {}) // its server is killed
  scope.teardown(() => admin.end())
  return { database: { ...urls, admin }, cluster }
}

/** The command line of a release; this one by default. */
export type Code = { entry?: string }

export type Installation = {
  /** Where HAProxy listens. */
  front: Pick<Instance, 'origin' | 'agent'>
  poolers: readonly Pooler[]
  /** Ends a web process gracefully and starts it again, with this code. */
  replaceWeb(index: number, code?: Code): Promise<void>
  replaceWorker(index: number, code?: Code): Promise<void>
  /** `kill -9` of a worker, and a new process. */
  killWorker(index: number): Promise<void>
  /** Every process so far. */
  programs: readonly Program[]
}

/** Two web processes and two workers, each pair over its own PgBouncer, behind HAProxy. */
export async function startInstallation(
  scope: Scope,
  database: TestDatabase,
  outboundAllow: string,
): Promise<Installation> {
  const poolers = [await startPooler(), await startPooler()]
  const ports = await Promise.all(Array.from({ length: 6 }, () => findFreePort()))
  const [front = 0, redis = 0, ...webPorts] = ports
  if (noRedis === false) await startRedis(scope, redis)
  const programs: Program[] = []

  function startPooler(): Promise<Pooler> {
    return startPgbouncer(scope, database.url, serverConnections)
  }

  function settingsOf(index: number): Record<string, string> {
    const pooler = poolers[index % poolers.length]
    const through = (url: string) => pooler?.through(url) ?? url
    const urls = { ...database, url: through(database.url), workerUrl: through(database.workerUrl) }
    return {
      ...testSettings(urls),
      ...{ LOG_LEVEL: 'info', DRAIN_SECONDS: '3', OUTBOUND_ALLOW: outboundAllow },
    }
  }

  const web = async (index: number, code: Code = {}) => {
    const [port, adminPort] = webPorts.slice(2 * index).map(String)
    const instance = await startInstance(
      scope,
      database,
      {
        ...settingsOf(index),
        ...{ ROLE: 'web', PORT: port ?? '', ADMIN_PORT: adminPort ?? '' },
        ...(noRedis === false && { REDIS_URL: `redis://127.0.0.1:${redis}` }),
      },
      code,
    )
    programs.push(instance)
    return instance
  }
  const worker = async (index: number, code: Code = {}) => {
    const program = await runProgram(scope, ['worker'], settingsOf(index), code)
    await program.says(/"msg":"started"/)
    programs.push(program)
    return program
  }
  const webs = [await web(0), await web(1)]
  const workers = [await worker(0), await worker(1)]
  const servers = [0, 2].map((first) => ({
    ...{ host: '127.0.0.1', port: webPorts[first] ?? 0, checkPort: webPorts[first + 1] ?? 0 },
  }))
  const settings = await haproxySettings(front, servers, {
    port: await findFreePort(),
    servers: [],
  })
  await startHaproxy(scope, settings, front)
  const agent = new Agent({ keepAlive: true })
  scope.teardown(() => agent.destroy())
  return {
    front: { origin: `http://127.0.0.1:${front}`, agent },
    poolers,
    async replaceWeb(index, code) {
      await stop(webs[index])
      webs[index] = await web(index, code)
    },
    async replaceWorker(index, code) {
      await stop(workers[index])
      workers[index] = await worker(index, code)
    },
    async killWorker(index) {
      workers[index]?.child.kill('SIGKILL')
      await workers[index]?.ended
      workers[index] = await worker(index)
    },
    programs,
  }
}

async function stop(program: Program | undefined): Promise<void> {
  program?.child.kill('SIGTERM')
  const status = await program?.ended
  if (status !== 0) throw new Error(`a process ended with ${status} after SIGTERM`)
}

/** Takes every delivery, and notes when. */
export async function startTaker(scope: Scope, took: () => void) {
  const server = createServer((request, response) => {
    request.resume()
    took()
    response.writeHead(204).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  scope.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new Error('no port')
  const address = `127.0.0.1:${bound.port}`
  return { address, url: `http://${address}` }
}
