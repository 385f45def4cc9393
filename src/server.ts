import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import Fastify from 'fastify'
import type { PgBoss } from 'pg-boss'
import requireAccess from '#plugins/access/require-access.ts'
import allowedMethods from '#plugins/http/allowed-methods.ts'
import errors from '#plugins/http/errors.ts'
import notFound from '#plugins/http/not-found.ts'
import parserAnswers from '#plugins/http/parser-answers.ts'
import health from '#routes/health.ts'
import metricsRoute from '#routes/metrics.ts'
import { measureErasures } from '#src/auth/erasure/work.ts'
import { measureUsage } from '#src/auth/members/usage.ts'
import { measureBacklog, measureDoublePayers } from '#src/billing/events.ts'
import { measureReconciliation } from '#src/billing/reconciliation.ts'
import type { Config } from '#src/config/config.ts'
import { requireSameSite } from '#src/config/same-site.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { measureLedger } from '#src/ledger/last-check.ts'
import { createMetrics, describeProcess, type Metrics } from '#src/observability/metrics.ts'
import { startTracing, type Tracing } from '#src/observability/tracing.ts'
import { warningsOf, watchTransactions } from '#src/operations/open-transactions.ts'
import {
  fingerprint,
  type ProcessFacts,
  startAnnouncing,
} from '#src/operations/running-processes.ts'
import { measureQueues } from '#src/queue/backlog.ts'
import { version } from '#src/runtime/assets.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { type Listener, toListenProblem } from '#src/runtime/process/ports.ts'
import { stopInPhases, stopLimitMs } from '#src/runtime/process/shutdown.ts'
import type { Repeat, Repeated } from '#src/runtime/repeat.ts'
import { endsWithin } from '#src/runtime/timeout.ts'
import { findSchemaVersion } from '#src/schema/record.ts'
import { describeUnreachable } from '#src/schema/unreachable.ts'
import { repeatVerification, verifyDatabase } from '#src/schema/verification/verify.ts'
import { startVerifyMonitor, type VerifyMonitor } from '#src/schema/verification/verify-monitor.ts'
import { measureHealth } from '#src/webhooks/health/measure.ts'
import { serverOptions } from './server-options.ts'
import type { SupervisedWorker } from './worker.ts'

export type Running = {
  /** Address of the public listener; null for a worker. */
  address: string | null
  adminAddress: string
  /**
   * Stops in phases (src/runtime/process/shutdown.ts). Only SIGTERM waits for the drain delay; SIGINT
   * (Ctrl-C) skips it.
   * @returns false if something had to be aborted
   */
  stop(signal?: NodeJS.Signals): Promise<boolean>
  /** The longest time a stop can take. */
  stopLimitMs: number
}

/**
 * Verifies the database, then starts the parts of the role. A process that serves requests repeats
 * the part of the verification that writes nothing while it runs.
 * @param repeat how often; default: every minute
 * @throws ConfigError, or OperatorError with a one-line problem and remedy, if an operator has to fix something first
 */
export async function start(
  config: Config,
  logger: FastifyBaseLogger,
  repeat?: Repeat,
): Promise<Running> {
  const { role } = config
  const { url, workerUrl } = config.database
  await requireSameSite(config)
  for (const warning of config.warnings) logger.warn(warning)
  logger.info({ role, version }, 'verifying the database')
  if (role !== 'worker') await refuseUnverifiedDatabase('DATABASE_URL', url, 'web')
  if (role !== 'web') await refuseUnverifiedDatabase('DATABASE_WORKER_URL', workerUrl, 'worker')

  const metrics = createMetrics({ process: true })
  const tracing = await startTracing(config.tracing, role, logger)
  const notStarted = { app: null, worker: null, admin: null, verification: null, announcing: null }
  const parts: Parts = { ...notStarted, tracing, stopping: false }
  const stop = async (signal?: NodeJS.Signals) => {
    parts.stopping = true
    const drainMs = signal === 'SIGTERM' ? config.drainMs : 0
    const began = performance.now()
    const complete = await stopInPhases(parts, { drainMs, logger })
    const ms = Math.round(performance.now() - began)
    logger.info({ role, signal, complete, ms }, 'stopped')
    return complete
  }
  try {
    if (role !== 'worker') {
      logger.info('preparing the routes')
      // Like the worker below, loaded only by a role that needs it.
      const { buildApp } = await import('./app.ts')
      parts.verification = startVerifyMonitor(repeatVerification(url), logger, repeat)
      parts.app = await buildApp(config, logger, metrics, parts.verification, {
        connect: true,
        tracing,
      })
      // Registering the routes blocks the event loop, so it is finished before any job runs.
      await parts.app.ready()
    }
    if (role !== 'web') {
      // Not loaded where it is not needed: it has the client that calls customers' URLs.
      const { superviseWorker } = await import('./worker.ts')
      parts.worker = await superviseWorker(config, logger, metrics, tracing)
    }
    const { verification, worker } = parts
    describeProcess(metrics, role, {
      lockHolds: verification?.holds ?? null,
      inQuarantine: worker && (() => worker.current() === null),
    })
    parts.announcing = announceProcess(config, logger, parts)
    const admin = await buildAdmin(config, logger, metrics, parts)
    parts.admin = admin
    const { app } = parts
    const { host, port } = config
    const adminAddress = await listen(admin, { ...config.admin, setting: 'ADMIN_PORT' })
    const address = app && (await listen(app, { host, port, setting: 'PORT' }))
    logger.info({ role, version, address, adminAddress }, 'started')
    return { address, adminAddress, stop, stopLimitMs: config.drainMs + stopLimitMs }
  } catch (error) {
    parts.stopping = true
    await stopInPhases(parts, { drainMs: 0, logger })
    throw error
  }
}

/** Also logs what does not fit together among the processes on this database. */
function announceProcess(config: Config, logger: FastifyBaseLogger, parts: Parts): Repeated | null {
  const systemDb = parts.app?.systemDb ?? parts.worker?.systemDb
  if (systemDb === undefined) return null
  const { role, encryptionKeys, session, baseUrl, clock } = config
  const facts: ProcessFacts = {
    role,
    encryptionKeys: encryptionKeys.map(({ id }) => id),
    sessionSecrets: role === 'worker' ? [] : session.secrets.map(fingerprint),
    baseUrl,
    clock,
  }
  return startAnnouncing(systemDb, facts, {
    onStart(faults) {
      for (const fault of faults) logger.warn(fault)
    },
    onError(error) {
      if (!parts.stopping) logger.debug({ err: error }, 'this process was not announced')
    },
  })
}

async function refuseUnverifiedDatabase(
  setting: string,
  url: string,
  duty: 'web' | 'worker',
): Promise<void> {
  const [first] = await verifyDatabase(url, duty).catch((error) => [
    describeUnreachable(setting, url, error),
  ])
  if (first !== undefined) throw new OperatorError(first.problem, first.remedy)
}

/** The parts of this process; null if not needed for the role or not started yet. */
type Parts = {
  app: FastifyInstance | null
  worker: SupervisedWorker | null
  admin: FastifyInstance | null
  verification: VerifyMonitor | null
  announcing: Repeated | null
  tracing: Tracing
  stopping: boolean
}

/** Builds the admin listener: health checks and metrics. */
async function buildAdmin(
  config: Config,
  logger: FastifyBaseLogger,
  metrics: Metrics,
  parts: Parts,
): Promise<FastifyInstance> {
  const admin = Fastify(serverOptions(config, logger))
  const lookAtTransactions = watchTransactions()
  const findSystemDb = () => {
    const { app, worker } = parts
    return worker?.current()?.systemDb ?? app?.systemDb ?? worker?.systemDb
  }
  await admin.register(errors)
  await admin.register(parserAnswers)
  await admin.register(allowedMethods)
  await admin.register(notFound)
  await admin.register(requireAccess)
  await admin.register(health, {
    // A stopping process is not ready, even if all its parts work.
    findFailing: async () => (parts.stopping ? ['stopping'] : findFailing(checksOf(parts))),
    async findWarnings() {
      const systemDb = findSystemDb()
      return systemDb === undefined ? [] : warningsOf(await lookAtTransactions(systemDb))
    },
    async findSchema() {
      const systemDb = findSystemDb()
      return systemDb === undefined ? null : findSchemaVersion(systemDb)
    },
  })
  await admin.register(metricsRoute, {
    metrics,
    async refresh() {
      const { worker } = parts
      const systemDb = findSystemDb()
      // The other metrics are still served if the database is unavailable.
      if (systemDb === undefined) return
      metrics.measured.set(1)
      await Promise.all([
        measureBacklog(systemDb, metrics.billing),
        measureReconciliation(systemDb, metrics.billing),
        measureLedger(systemDb, metrics.ledger),
        measureQueues(systemDb, metrics.queues),
        measureTransactions(),
        // The web role sees what its caller stores, not what all tenants do.
        ...(worker?.current()
          ? [
              measureDoublePayers(systemDb, metrics.billing),
              measureUsage(systemDb, metrics.quotas, config.quota),
              measureErasures(systemDb, metrics.identity),
              measureHealth(systemDb, metrics.outbound),
            ]
          : []),
      ]).catch((error) => {
        metrics.measured.set(0)
        logger.warn({ err: error }, 'measuring the backlog failed')
      })
    },
  })
  return admin

  async function measureTransactions(): Promise<void> {
    const systemDb = findSystemDb()
    if (systemDb === undefined) return
    const { oldestSeconds, deadRows } = await lookAtTransactions(systemDb)
    metrics.transactions.oldest.set(oldestSeconds)
    for (const [table, dead] of deadRows) metrics.transactions.deadRows.set({ table }, dead)
  }
}

/** The readiness checks of this process. A worker verifies isolation only at startup. */
function checksOf({ app, worker, verification }: Parts): ReadinessCheck[] {
  return [
    ...(app ? databaseChecks(app.systemDb, app.queue) : []),
    ...(worker ? workerChecks(worker) : []),
    ...(verification ? [verificationCheck(verification)] : []),
  ]
}

/** Fastify's own lines, one per network address, are left out: `started` names the address. */
async function listen(server: FastifyInstance, listener: Listener): Promise<string> {
  const { log } = server
  server.log = log.child({}, { level: 'warn' })
  try {
    return await server.listen({ host: listener.host, port: listener.port })
  } catch (error) {
    throw toListenProblem(error, listener)
  } finally {
    server.log = log
  }
}

/** A part that the process needs, and a check that throws while it is unavailable. */
type ReadinessCheck = readonly [part: string, check: () => Promise<unknown>]

// Less than the 3 s of the container's health check (Dockerfile).
const checkTimeoutMs = 2_000

/** The checks of the web or worker part; each has its own database role and queue. */
function databaseChecks(systemDb: Queryable, queue: PgBoss): ReadinessCheck[] {
  return [
    ['database', () => systemDb.sql`SELECT 1`],
    ['queue', () => requireQueue(queue)],
  ]
}

function workerChecks({ current }: SupervisedWorker): ReadinessCheck[] {
  const worker = current()
  if (worker !== null) return databaseChecks(worker.systemDb, worker.queue)
  return [['quarantine', () => Promise.reject(new Error('No job is done.'))]]
}

/** Whether the last verification of row-level security passed. */
function verificationCheck(verification: VerifyMonitor): ReadinessCheck {
  return ['tenant lock', async () => verification.requireVerified()]
}

/** Runs all checks in parallel and returns the names of the failing parts, without duplicates. */
async function findFailing(checks: readonly ReadinessCheck[]): Promise<string[]> {
  const failing = await Promise.all(
    checks.map(async ([part, check]) => {
      const passed = await endsWithin(checkTimeoutMs, check()).catch(() => false)
      return passed ? [] : [part]
    }),
  )
  return [...new Set(failing.flat())]
}

/** Sending and fetching a job both need the queue's own row. */
async function requireQueue(queue: PgBoss): Promise<void> {
  const [found] = await queue.getQueues(['billing-event'])
  if (found === undefined) throw new Error('the queue is missing')
}
