import type { JobWithMetadata, PgBoss } from 'pg-boss'
import type { Database } from '#src/db/database.ts'
import type { QueueMetrics } from '#src/observability/metrics.ts'
import type { AnyJob } from '#src/resources/define-job.ts'
import { type Consumer, type ConsumerOptions, startConsumer } from '../consumer.ts'
import { JobGone } from '../enter-jobs.ts'
import { endJob, enterTries } from '../job-table.ts'
import type { AppJob } from '../queue.ts'
import { appQueue } from './enqueue.ts'
import { failureOf } from './hooks.ts'
import { type RunDeps, runOf } from './run.ts'

export type AppJobDeps = RunDeps & {
  readonly queue: PgBoss
  readonly due: ConsumerOptions<Fetched>['due']
  readonly db: Database
  readonly metrics: QueueMetrics
}

type Fetched = JobWithMetadata<AppJob>

// Each is a transaction, which may be long. One tenant leaves room for the others.
const limits = { inFlight: 8, stopMs: 6_000 } as const
const perTenant = 2

/** Starts the consumer of the jobs that the app declares, and of its hooks about people and tenants. */
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
  const { tenantId, input } = job.data
  const { name } = declared
  const work = deps.db.write(enterTries(appQueue, [job]), async (tx, entered) => {
    // For a closed tenant the scope is another tenant, which does not exist: the job ends without a run.
    if (entered.tenantId === tenantId) {
      // enqueue has checked the input
      await declared.run(runOf(deps, { name, tenantId, tx, input: input as never }))
    }
    await endJob(tx, job)
  })
  await work.catch((error) => {
    throw declared.isHook && !(error instanceof JobGone) ? failureOf(name, error) : error
  })
}
