import type { FastifyBaseLogger } from 'fastify'
import type { JobResult, JobWithMetadata, PgBoss } from 'pg-boss'
import { applyEvent, noteFailure } from './billing/apply.ts'
import { PoisonEvent } from './billing/effect.ts'
import type { Config } from './config.ts'
import { type Database, openDatabase } from './db/database.ts'
import { type IdentityPlane, openIdentityPlane } from './db/identity-plane.ts'
import { type Jobs, openQueue } from './jobs.ts'
import { type Pruner, startPruner } from './pruner.ts'

export type Worker = { queue: PgBoss; stop(): Promise<void> }

type BillingJob = JobWithMetadata<Jobs['billing-event']>

const pollSeconds = 0.5
const batchSize = 50
const stopTimeoutMs = 8_000

/** Starts working on jobs, as the worker role. */
export async function startWorker(config: Config, logger: FastifyBaseLogger): Promise<Worker> {
  const { workerUrl, poolSize } = config.database
  const db = openDatabase(workerUrl, poolSize)
  const plane = openIdentityPlane(workerUrl, 2)
  const queue = openQueue(workerUrl, 'worker', (error) => logger.error({ err: error }, 'queue'))
  await queue.start()
  await queue.work(
    'billing-event',
    { batchSize, pollingIntervalSeconds: pollSeconds, perJobResults: true, includeMetadata: true },
    (jobs: BillingJob[]) => Promise.all(jobs.map((job) => workBillingEvent(job))),
  )
  const pruner = startPruner(plane, config.session, logger)
  return { queue, stop: () => stopWorker(queue, pruner, db, plane) }

  async function workBillingEvent(job: BillingJob): Promise<JobResult> {
    const { eventId } = job.data
    try {
      const applied = await applyEvent(db, plane, eventId, config.clock.now())
      logger.info({ eventId, applied }, 'billing event worked on')
      return { id: job.id, status: 'completed' }
    } catch (error) {
      const poison = error instanceof PoisonEvent
      const dead = poison || job.retryCount >= job.retryLimit
      const reason = error instanceof Error ? error.message : String(error)
      logger.warn({ eventId, dead, err: error }, 'billing event failed')
      const noted = await noteFailure(db, eventId, dead ? 'dead' : 'failed', reason).then(
        () => true,
        (error) => logger.error({ eventId, err: error }, 'billing event failure not noted'),
      )
      // A noted poison event is settled: another try could not end differently.
      return { id: job.id, status: poison && noted ? 'completed' : 'failed' }
    }
  }
}

/** Stops taking jobs, lets those under way finish, hands back the rest. */
async function stopWorker(
  queue: PgBoss,
  pruner: Pruner,
  db: Database,
  plane: IdentityPlane,
): Promise<void> {
  await Promise.all([queue.stop({ graceful: true, timeout: stopTimeoutMs }), pruner.stop()])
  await Promise.all([db.close(), plane.close()])
}
