import type { FastifyBaseLogger } from 'fastify'
import type { JobResult, JobWithMetadata, PgBoss } from 'pg-boss'
import { createEventJob } from './billing/event-job.ts'
import type { Config } from './config.ts'
import { type Database, openDatabase } from './db/database.ts'
import { type IdentityPlane, openIdentityPlane } from './db/identity-plane.ts'
import { createProviders } from './identity/providers.ts'
import { createRevocationJob } from './identity/revocation-job.ts'
import { type Jobs, openQueue } from './jobs.ts'
import { type Pruner, startPruner } from './pruner.ts'

export type Worker = { queue: PgBoss; stop(): Promise<void> }

type Handlers = {
  [Name in keyof Jobs]: {
    batchSize: number
    work(job: JobWithMetadata<Jobs[Name]>): Promise<JobResult>
  }
}

const pollSeconds = 0.5
const stopTimeoutMs = 8_000

/** Starts working on jobs, as the worker role. */
export async function startWorker(config: Config, logger: FastifyBaseLogger): Promise<Worker> {
  const { workerUrl, poolSize } = config.database
  const { clock, encryptionKeys: keys } = config
  const db = openDatabase(workerUrl, poolSize)
  const plane = openIdentityPlane(workerUrl, 2)
  const queue = openQueue(workerUrl, 'worker', (error) => logger.error({ err: error }, 'queue'))
  const providers = createProviders(config.providers, clock, (provider, position) =>
    logger.warn({ provider, position }, 'another client secret was accepted'),
  )
  const handlers: Handlers = {
    'billing-event': { batchSize: 50, work: createEventJob({ db, plane, clock }, logger) },
    // Few at once: each waits for a provider.
    'revoke-grant': { batchSize: 5, work: createRevocationJob({ plane, keys, providers }, logger) },
  }
  await queue.start()
  await Promise.all([
    take(queue, 'billing-event', handlers['billing-event']),
    take(queue, 'revoke-grant', handlers['revoke-grant']),
  ])
  const pruner = startPruner(plane, config.session, logger)
  return { queue, stop: () => stopWorker(queue, pruner, db, plane) }
}

async function take<Name extends keyof Jobs>(
  queue: PgBoss,
  name: Name,
  { batchSize, work }: Handlers[Name],
): Promise<void> {
  await queue.work(
    name,
    { batchSize, pollingIntervalSeconds: pollSeconds, perJobResults: true, includeMetadata: true },
    (jobs: JobWithMetadata<Jobs[Name]>[]) => Promise.all(jobs.map((job) => work(job))),
  )
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
