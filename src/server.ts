import Fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import errors from '#plugins/errors.ts'
import notFound from '#plugins/not-found.ts'
import routeAccess from '#plugins/route-access.ts'
import health from '#routes/health.ts'
import metricsRoute from '#routes/metrics.ts'
import { buildApp } from './app.ts'
import { measureBacklog } from './billing/backlog.ts'
import type { Config } from './config.ts'
import { proveDatabase } from './db/proof.ts'
import { type ProofWatch, type Repeat, watchProof } from './db/proof-watch.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { OperatorError } from './operator-error.ts'
import { measureWaiting } from './outbound/backlog.ts'
import { serverOptions } from './server-options.ts'
import { stopInPhases, stopLimitMs } from './stop.ts'
import { startWorker, type Worker } from './worker.ts'

export type Running = {
  /** Where the public listener is; null for a worker. */
  address: string | null
  adminAddress: string
  /**
   * Stops in phases (src/stop.ts). Whoever presses Ctrl-C (SIGINT) is alone with it: nobody is
   * given time to leave.
   * @returns false when something had to be cut
   */
  stop(signal?: NodeJS.Signals): Promise<boolean>
  /** How long that takes at most. */
  stopLimitMs: number
}

/**
 * Starts what the role asks for, after the database has proven itself; where requests are served
 * it goes on proving that.
 * @param repeat how often; every minute where none is given
 * @throws OperatorError, one line, when an operator has to mend something first
 */
export async function start(
  config: Config,
  logger: FastifyBaseLogger,
  repeat?: Repeat,
): Promise<Running> {
  const { role } = config
  const { url, workerUrl } = config.database
  for (const { name, nearest } of config.unknownSettings) {
    logger.warn({ name, nearest }, `${name} is no setting of Gatehouse; did you mean ${nearest}?`)
  }
  if (role !== 'worker') await refuseFlawedDatabase('DATABASE_URL', url, 'web')
  if (role !== 'web') await refuseFlawedDatabase('DATABASE_WORKER_URL', workerUrl, 'worker')

  const metrics = createMetrics({ process: true })
  const parts: Parts = { app: null, worker: null, admin: null, proof: null, stopping: false }
  const stop = (signal?: NodeJS.Signals) => {
    parts.stopping = true
    return stopInPhases(parts, { drainMs: signal === 'SIGTERM' ? config.drainMs : 0, logger })
  }
  try {
    if (role !== 'worker') {
      parts.proof = watchProof(() => proveDatabase(url, 'web'), logger, repeat)
      parts.app = await buildApp(config, logger, metrics, parts.proof)
      // Compiles the schemas of all routes, and nothing else runs meanwhile: before any job does.
      await parts.app.ready()
    }
    if (role !== 'web') parts.worker = await startWorker(config, logger, metrics)
    const admin = await buildAdmin(config, logger, metrics, parts)
    parts.admin = admin
    const { app } = parts
    const adminAddress = await listen(admin, config.admin.host, config.admin.port, 'ADMIN_PORT')
    const address = app && (await listen(app, config.host, config.port, 'PORT'))
    return { address, adminAddress, stop, stopLimitMs: config.drainMs + stopLimitMs }
  } catch (error) {
    await stop()
    throw error
  }
}

async function refuseFlawedDatabase(
  setting: string,
  url: string,
  duty: 'web' | 'worker',
): Promise<void> {
  const flaws = await proveDatabase(url, duty).catch((error) => {
    const reason = error instanceof Error ? error.message || error.name : String(error)
    throw new OperatorError(
      `The database cannot be reached: ${reason}.`,
      `Check ${setting} and that PostgreSQL is running.`,
    )
  })
  const [first] = flaws
  if (first !== undefined) throw new OperatorError(first.problem, first.remedy)
}

/** What runs in this process; null where its role has no part in it, or before it was started. */
type Parts = {
  app: FastifyInstance | null
  worker: Worker | null
  admin: FastifyInstance | null
  proof: ProofWatch | null
  stopping: boolean
}

/** The second listener, for those who run the service. */
async function buildAdmin(
  config: Config,
  logger: FastifyBaseLogger,
  metrics: Metrics,
  parts: Parts,
): Promise<FastifyInstance> {
  const admin = Fastify(serverOptions(config, logger))
  await admin.register(errors)
  await admin.register(notFound)
  await admin.register(routeAccess)
  await admin.register(health, { findFailing: () => findFailing(parts) })
  const plane = parts.worker?.plane ?? parts.app?.identityPlane
  await admin.register(metricsRoute, {
    metrics,
    async refresh() {
      // A database that is away must not take the other numbers with it.
      if (plane === undefined) return
      await Promise.all([
        measureBacklog(plane, metrics.billing),
        measureWaiting(plane, metrics.outbound),
      ]).catch((error) => logger.warn({ err: error }, 'the backlog could not be measured'))
    },
  })
  return admin
}

/** The parts of this process that cannot do their work now; a process that stops has no others. */
async function findFailing({ app, worker, proof, stopping }: Parts): Promise<string[]> {
  if (stopping) return ['stopping']
  const looks: [string, () => Promise<unknown> | undefined][] = [
    ['database', () => app?.identityPlane.query({ text: 'SELECT 1' })],
    ['queue', () => worker?.queue.getQueues(['billing-event'])],
    ['tenant lock', async () => proof?.requireProof()],
  ]
  const failing = await Promise.all(
    looks.map(async ([part, look]) => {
      try {
        await look()
        return []
      } catch {
        return [part]
      }
    }),
  )
  return failing.flat()
}

async function listen(
  server: FastifyInstance,
  host: string,
  port: number,
  setting: string,
): Promise<string> {
  try {
    return await server.listen({ host, port })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : ''
    if (code === 'EADDRINUSE') {
      throw new OperatorError(
        `Port ${port} on ${host} is in use.`,
        `Stop what listens there or set ${setting} to another port.`,
      )
    }
    if (code === 'EACCES' || code === 'EADDRNOTAVAIL') {
      throw new OperatorError(`Cannot listen on ${host}:${port} (${code}).`, `Change ${setting}.`)
    }
    throw error
  }
}
