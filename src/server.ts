import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import Fastify from 'fastify'
import type { PgBoss } from 'pg-boss'
import errors from '#plugins/errors.ts'
import notFound from '#plugins/not-found.ts'
import routeAccess from '#plugins/require-access.ts'
import health from '#routes/health.ts'
import metricsRoute from '#routes/metrics.ts'
import { measureBacklog } from '#src/billing/events.ts'
import type { Config } from '#src/config/config.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { createMetrics, describeProcess, type Metrics } from '#src/observability/metrics.ts'
import { startTracing, type Tracing } from '#src/observability/tracing.ts'
import { measureQueues } from '#src/queue/backlog.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { stopInPhases, stopLimitMs } from '#src/runtime/shutdown.ts'
import { endsWithin } from '#src/runtime/timeout.ts'
import { verifyDatabase } from '#src/schema/verify.ts'
import { type Repeat, startVerifyMonitor, type VerifyMonitor } from '#src/schema/verify-monitor.ts'
import { buildApp } from './app.ts'
import { serverOptions } from './server-options.ts'
import { startWorker, type Worker } from './worker.ts'

export type Running = {
  /** Where the public listener is; null for a worker. */
  address: string | null
  adminAddress: string
  /**
   * Stops in phases (src/runtime/shutdown.ts). Whoever presses Ctrl-C (SIGINT) is alone with it: nobody is
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
  if (role !== 'worker') await refuseUnverifiedDatabase('DATABASE_URL', url, 'web')
  if (role !== 'web') await refuseUnverifiedDatabase('DATABASE_WORKER_URL', workerUrl, 'worker')

  const metrics = createMetrics({ process: true })
  const tracing = await startTracing(config.tracing, role, logger)
  const nothing = { app: null, worker: null, admin: null, verification: null }
  const parts: Parts = { ...nothing, tracing, stopping: false }
  const stop = (signal?: NodeJS.Signals) => {
    parts.stopping = true
    return stopInPhases(parts, { drainMs: signal === 'SIGTERM' ? config.drainMs : 0, logger })
  }
  try {
    if (role !== 'worker') {
      parts.verification = startVerifyMonitor(() => verifyDatabase(url, 'web'), logger, repeat)
      parts.app = await buildApp(config, logger, metrics, parts.verification, {
        connect: true,
        tracing,
      })
      // Registers every route, and nothing else runs meanwhile: before any job does.
      await parts.app.ready()
    }
    if (role !== 'web') parts.worker = await startWorker(config, logger, metrics, tracing)
    describeProcess(metrics, role, parts.verification?.holds ?? null)
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

async function refuseUnverifiedDatabase(
  setting: string,
  url: string,
  duty: 'web' | 'worker',
): Promise<void> {
  const findings = await verifyDatabase(url, duty).catch((error) => {
    const reason = error instanceof Error ? error.message || error.name : String(error)
    throw new OperatorError(
      `The database cannot be reached: ${reason}.`,
      `Check ${setting} and that PostgreSQL is running.`,
    )
  })
  const [first] = findings
  if (first !== undefined) throw new OperatorError(first.problem, first.remedy)
}

/** What runs in this process; null where its role has no part in it, or before it was started. */
type Parts = {
  app: FastifyInstance | null
  worker: Worker | null
  admin: FastifyInstance | null
  verification: VerifyMonitor | null
  tracing: Tracing
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
  await admin.register(health, {
    // A process that stops takes nothing more, however well its parts are.
    findFailing: async () => (parts.stopping ? ['stopping'] : findFailing(looksOf(parts))),
  })
  const systemDb = parts.worker?.systemDb ?? parts.app?.systemDb
  await admin.register(metricsRoute, {
    metrics,
    async refresh() {
      // A database that is away must not take the other numbers with it.
      if (systemDb === undefined) return
      metrics.measured.set(1)
      await Promise.all([
        measureBacklog(systemDb, metrics.billing),
        measureQueues(systemDb, metrics.queues),
      ]).catch((error) => {
        metrics.measured.set(0)
        logger.warn({ err: error }, 'the backlog could not be measured')
      })
    },
  })
  return admin
}

/** What the parts of this process stand on; a worker's lock is proven at the start. */
function looksOf({ app, worker, verification }: Parts): ReadinessCheck[] {
  return [
    ...(app ? checksOf(app.systemDb, app.queue) : []),
    ...(worker ? checksOf(worker.systemDb, worker.queue) : []),
    ...(verification ? checksVerification(verification) : []),
  ]
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

/** One part that the process needs, and what throws while it cannot be used. */
export type ReadinessCheck = readonly [part: string, look: () => Promise<unknown>]

// A check of a container waits 3 s for the answer (Dockerfile).
const lookMs = 2_000

/** What a half of the program stands on: the web half sends jobs, the worker takes them. */
function checksOf(systemDb: Queryable, queue: PgBoss): ReadinessCheck[] {
  return [
    ['database', () => systemDb.query({ text: 'SELECT 1' })],
    ['queue', () => requireQueue(queue)],
  ]
}

/** Where the tenant lock is watched: whether its last proof has passed. */
function checksVerification(verification: VerifyMonitor): ReadinessCheck[] {
  return [['tenant lock', async () => verification.requireVerified()]]
}

/** The parts that cannot do their work now, each named once; asked for all at once. */
async function findFailing(looks: readonly ReadinessCheck[]): Promise<string[]> {
  const failing = await Promise.all(
    looks.map(async ([part, look]) => {
      const answered = await endsWithin(lookMs, look()).catch(() => false)
      return answered ? [] : [part]
    }),
  )
  return [...new Set(failing.flat())]
}

/** To send a job and to take one both begin with what the queue knows of itself. */
async function requireQueue(queue: PgBoss): Promise<void> {
  const [found] = await queue.getQueues(['billing-event'])
  if (found === undefined) throw new Error('the queue is missing')
}
