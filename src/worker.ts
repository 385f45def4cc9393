import type { FastifyBaseLogger } from 'fastify'
import type { PgBoss } from 'pg-boss'
import { startErasures } from '#src/auth/erasure/work.ts'
import { workInvitationMails } from '#src/auth/members/invitation-mail.ts'
import { listManagers } from '#src/auth/members/members.ts'
import { createProviders } from '#src/auth/oidc/clients.ts'
import { recordOperators } from '#src/auth/operators/operators.ts'
import { retryRevocations } from '#src/auth/provider-tokens/retry.ts'
import { workRevocations } from '#src/auth/provider-tokens/revoke.ts'
import { startCleanup } from '#src/auth/sessions/cleanup.ts'
import { addForward, workForwards } from '#src/billing/forward.ts'
import { requireHookTypes } from '#src/billing/hooks.ts'
import { chooseProvider } from '#src/billing/providers/choose.ts'
import { chooseApi } from '#src/billing/providers/choose-api.ts'
import { workBilling } from '#src/billing/worker.ts'
import type { Config } from '#src/config/config.ts'
import { isPooled } from '#src/db/connections/pool-options.ts'
import { type Database, openDatabase, type Tx } from '#src/db/database.ts'
import { askPersistently, isDatabaseUnavailable } from '#src/db/errors.ts'
import { openSystemDatabase, type SystemDatabase } from '#src/db/system-database.ts'
import { traceDatabase, traceSystemDatabase } from '#src/db/tracing.ts'
import { workLedger } from '#src/ledger/worker.ts'
import { createMetrics, type Metrics } from '#src/observability/metrics.ts'
import { createOutageLog, type OutageLog } from '#src/observability/outage-log.ts'
import { type Tracing, untraced } from '#src/observability/tracing.ts'
import { findQuarantine } from '#src/operations/installation.ts'
import { billingHooks } from '#src/queue/app/hooks.ts'
import type { RunDeps } from '#src/queue/app/run.ts'
import { workSchedules } from '#src/queue/app/schedule.ts'
import { type AppJobDeps, workAppJobs } from '#src/queue/app/worker.ts'
import { type DueJobs, startDueJobs } from '#src/queue/due-jobs.ts'
import { openQueue } from '#src/queue/queue.ts'
import { type Supervised, supervise } from '#src/queue/supervisor.ts'
import { jobs } from '#src/resources/running-app.ts'
import { publishIn } from '#src/rows/own-events.ts'
import { workOutbound } from '#src/webhooks/delivery/worker.ts'
import { workAlerts } from '#src/webhooks/health/alert-mail.ts'
import { workCalls } from '#src/webhooks/probe/worker.ts'
import { findForm } from './schema/citus/statements.ts'

export type Worker = { queue: PgBoss; systemDb: SystemDatabase; stop(): Promise<void> }

/** A worker that does nothing while its database is in quarantine. `systemDb` is one connection. */
export type SupervisedWorker = Supervised<Worker> & { readonly systemDb: SystemDatabase }

const stopTimeoutMs = 8_000

/**
 * Processes jobs, except while the database is in quarantine.
 * @throws what `startWorker` throws
 */
export async function superviseWorker(
  config: Config,
  logger: FastifyBaseLogger,
  metrics: Metrics = createMetrics(),
  tracing: Tracing = untraced,
): Promise<SupervisedWorker> {
  const { workerUrl, limits = {} } = config.database
  const systemDb = openSystemDatabase(workerUrl, 1, { limits })
  const log = createOutageLog(logger, isDatabaseUnavailable)
  const close = () => {
    log.close()
    return systemDb.close()
  }
  try {
    const supervised = await supervise({
      start: () => startWorker(config, logger, metrics, tracing),
      findQuarantine: () => findQuarantine(systemDb, { record: true }),
      logger: log,
    })
    const stop = () => supervised.stop().finally(close)
    return { current: supervised.current, systemDb, stop }
  } catch (error) {
    await close()
    throw error
  }
}

/** Starts processing jobs, as the worker role. If the start fails, everything opened is closed. */
export async function startWorker(
  config: Config,
  logger: FastifyBaseLogger,
  metrics: Metrics = createMetrics(),
  tracing: Tracing = untraced,
): Promise<Worker> {
  const { workerUrl, poolSize, limits = {} } = config.database
  const form = await findForm(workerUrl)
  const log = createOutageLog(logger, isDatabaseUnavailable)
  const watch = {
    reads: metrics.pools.watch('job-reads'),
    writes: metrics.pools.watch('job-writes'),
    transactions: metrics.pools.watch('jobs'),
  }
  const parts: Parts = {
    log,
    db: traceDatabase(openDatabase(workerUrl, poolSize, { watch, form, limits }), tracing),
    systemDb: traceSystemDatabase(
      openSystemDatabase(workerUrl, 4, { watch: metrics.pools.watch('jobs-identity'), limits }),
      tracing,
    ),
    queue: openQueue(workerUrl, 'worker', (err) => log.error({ err }, 'queue'), limits),
    stoppables: [],
  }
  try {
    await startParts(parts, config, metrics, tracing)
    return { queue: parts.queue, systemDb: parts.systemDb, stop: () => stopWorker(parts) }
  } catch (error) {
    await stopWorker(parts)
    throw error
  }
}

/** `stoppables`: parts that run beside the handlers of the queue. */
type Parts = {
  log: OutageLog
  db: Database
  systemDb: SystemDatabase
  queue: PgBoss
  stoppables: { stop(): Promise<void> }[]
}

async function startParts(
  parts: Parts,
  config: Config,
  metrics: Metrics,
  tracing: Tracing,
): Promise<void> {
  const { db, systemDb, queue, log: logger } = parts
  const { clock, encryptionKeys: keys } = config
  const providers = createProviders(config.providers, {
    clock,
    secretSwitched: (provider, position) =>
      logger.warn({ provider, position }, 'the provider accepted another client secret'),
  })
  await askPersistently(() => recordOperators(systemDb, config.operators))
  await queue.start()
  const listens = !isPooled(config.database.workerUrl)
  const due = await startDueJobs({ queue, listens, logger })
  parts.stoppables.push(due)
  const { appWebhook, retentionDays } = config.billing
  requireHookTypes()
  const runs = { clock, settings: config.settings, logger, publishIn }
  const billing = await workBilling({
    queue,
    due,
    db,
    systemDb,
    provider: chooseProvider(config.billing.provider, config),
    plans: config.billing.plans,
    metadata: config.billing.metadata,
    api: chooseApi(config),
    ...(appWebhook && { onProcessed: forwardTo(queue, config.outbound) }),
    hookOf: billingHooks(runs),
    retentionDays,
    clock,
    metrics: metrics.billing,
    tracing,
    logger,
  })
  parts.stoppables.push(billing)
  if (appWebhook !== null) {
    const forwardDeps = { queue, due, db, systemDb, clock, metrics: metrics.billing, logger }
    parts.stoppables.push(await workForwards(appWebhook, config.outbound, forwardDeps))
  }
  parts.stoppables.push(
    await workRevocations({
      queue,
      due,
      systemDb,
      keys,
      providers,
      metrics: metrics.identity,
      logger,
    }),
  )
  const callDeps = { queue, due, db, systemDb, keys, clock, logger }
  parts.stoppables.push(await workCalls(config.outbound, callDeps))
  const deliveryDeps = { ...callDeps, metrics: metrics.outbound, tracing }
  parts.stoppables.push(await workOutbound(config.outbound, deliveryDeps))
  await workLedger({ queue, due, systemDb, logger })
  await startAppJobs(parts, due, { ...runs, metrics: metrics.queues })
  const { mail, baseUrl, brand } = config
  const mailer = mail && (await openMailer(mail, brand))
  const mailDeps = { db, mailer, baseUrl, keys, clock }
  await workAlerts(due, { ...mailDeps, listManagers }, logger)
  await workInvitationMails(due, mailDeps, logger)
  const limits = { ...config.session, auditDays: config.audit.retentionDays }
  parts.stoppables.push(
    startCleanup(systemDb, limits, logger, () => retryRevocations(systemDb, queue)),
  )
  parts.stoppables.push(startErasures(systemDb, queue, metrics.identity, logger))
}

async function startAppJobs(
  { queue, db, systemDb, log: logger, stoppables }: Parts,
  due: DueJobs,
  runs: RunDeps & Pick<AppJobDeps, 'metrics'>,
): Promise<void> {
  if (jobs.length === 0) return
  stoppables.push(await workAppJobs(jobs, { ...runs, queue, due, db }))
  stoppables.push(await workSchedules(jobs, { queue, due, clock: runs.clock, logger, systemDb }))
}

/** Loaded only where there is a mail server. */
async function openMailer(mail: NonNullable<Config['mail']>, brand: Config['brand']) {
  const { createMailer } = await import('#src/mail/mailer.ts')
  const { renderMail } = await import('#src/pages/kit/mail.ts')
  return createMailer(mail, (message) => renderMail(message, brand))
}

function forwardTo(queue: PgBoss, { retrySeconds }: Config['outbound']) {
  return (tx: Tx, eventId: string) => addForward(tx, queue, eventId, retrySeconds)
}

/** Takes no more jobs, waits for those in progress, and returns the rest to the queue. */
async function stopWorker({ log, queue, stoppables, db, systemDb }: Parts): Promise<void> {
  const stopping = { graceful: true, timeout: stopTimeoutMs }
  // The others return their jobs through the queue's connections, so these are closed last.
  await Promise.all([
    queue.stop({ ...stopping, close: false }),
    ...stoppables.map((part) => part.stop()),
  ])
  await queue.stop({ ...stopping, close: true })
  await Promise.all([db.close(), systemDb.close()])
  log.close()
}
