import type { JobWithMetadata, PgBoss } from 'pg-boss'
import type { Database } from '#src/db/database.ts'
import type { JobLog } from '#src/observability/logger.ts'
import type { QueueMetrics } from '#src/observability/metrics.ts'
import type { AnyJob } from '#src/resources/define-job.ts'
import type { Clock } from '#src/runtime/clock.ts'
import { type Consumer, type ConsumerOptions, startConsumer } from '../consumer.ts'
import { JobGone } from '../enter-jobs.ts'
import { endJob, enterTries } from '../job-table.ts'
import type { AppJob } from '../queue.ts'
import { appQueue, enqueueIn } from './enqueue.ts'

export type AppJobDeps = {
  readonly queue: PgBoss
  readonly due: ConsumerOptions<Fetched>['due']
  readonly db: Database
  readonly clock: Clock
  /** Those of the app. */
  readonly settings: object
  readonly metrics: QueueMetrics
  readonly logger: JobLog
}

type Fetched = JobWithMetadata<AppJob>

// Each is a transaction, which may be long. One tenant leaves room for the others.
const limits = { inFlight: 8, stopMs: 6_000 } as const
const perTenant = 2

/** Starts the consumer of the jobs that the app declares. */
export function workAppJobs(jobs: readonly AnyJob[], deps: AppJobDeps): Promise<Consumer> {
  const { queue, due, logger } = deps
  const options = { includeMetadata: true, groupConcurrency: perTenant } as const
  return startConsumer<Fetched>({
    ...{ queue, due, name: appQueue, limits, logger },
    fetch: (batchSize) => queue.fetch<AppJob>(appQueue, { batchSize, ...options }),
    run: (fetched, abandoned) => fetched.map((job) => workJob(jobs, deps, job, abandoned)),
  })
}

/** Never rejects. */
async function workJob(
  jobs: readonly AnyJob[],
  deps: AppJobDeps,
  job: Fetched,
  abandoned: AbortSignal,
): Promise<void> {
  const { logger, metrics } = deps
  const { tenantId, job: name } = job.data
  const facts = { job: name, tenantId }
  try {
    const declared = jobs.find((one) => one.name === name)
    // A newer release may have added it: another try is another worker's.
    if (declared === undefined) throw new Error(`the app has no job ${name}`)
    await runJob(declared, deps, job)
    logger.info(facts, 'job of the app done')
    metrics.appJobRuns.inc({ job: name, outcome: 'done' })
  } catch (error) {
    if (abandoned.aborted) return
    if (error instanceof JobGone) return logger.info(facts, 'job taken over by another worker')
    const isLast = job.retryCount >= job.retryLimit
    const words = isLast ? 'job of the app is dead' : 'job of the app failed'
    logger[isLast ? 'error' : 'warn']({ ...facts, err: error }, words)
    metrics.appJobRuns.inc({ job: name, outcome: isLast ? 'dead' : 'failed' })
    // If this fails too, the job returns without its heartbeat.
    await deps.queue.fail(appQueue, job, { message: String(error) }).catch(() => {})
  }
}

/** Runs and ends the job in one transaction, so what it does in the database is done once. */
async function runJob(declared: AnyJob, deps: AppJobDeps, job: Fetched): Promise<void> {
  const { db, clock, settings, logger } = deps
  const { tenantId, input } = job.data
  const { name } = declared
  await db.write(enterTries(appQueue, [job]), async (tx, entered) => {
    // For a closed tenant the scope is another tenant, which does not exist: the job ends without a run.
    if (entered.tenantId === tenantId) {
      const log = withFacts(logger, { job: name, tenantId })
      const tenant = { id: tenantId }
      const work = { tx, tenant, settings, now: clock.now(), log, enqueue: enqueueIn(tx) }
      await declared.run({ ...work, input: input as never }) // enqueue has checked it
    }
    await endJob(tx, job)
  })
}

/** A log whose lines have these facts too. */
function withFacts(log: JobLog, more: object): JobLog {
  const at = (level: keyof JobLog) => (facts: object, message: string) =>
    log[level]({ ...facts, ...more }, message)
  return { info: at('info'), warn: at('warn'), error: at('error') }
}
