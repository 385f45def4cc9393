import type { FastifyBaseLogger } from 'fastify'
import type { PgBoss } from 'pg-boss'
import { createProviderApi } from './billing/provider-api.ts'
import { workBilling } from './billing/worker.ts'
import type { Config } from './config.ts'
import { type Database, openDatabase } from './db/database.ts'
import { type IdentityPlane, openIdentityPlane } from './db/identity-plane.ts'
import { createProviders } from './identity/providers.ts'
import { workRevocations } from './identity/revocation-job.ts'
import { openQueue } from './jobs.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { type Pruner, startPruner } from './pruner.ts'

export type Worker = { queue: PgBoss; plane: IdentityPlane; stop(): Promise<void> }

const stopTimeoutMs = 8_000

/** Starts working on jobs, as the worker role; a start that fails leaves nothing open. */
export async function startWorker(
  config: Config,
  logger: FastifyBaseLogger,
  metrics: Metrics = createMetrics(),
): Promise<Worker> {
  const { workerUrl, poolSize, context } = config.database
  const parts: Parts = {
    db: openDatabase(workerUrl, poolSize, context),
    plane: openIdentityPlane(workerUrl, 4),
    queue: openQueue(workerUrl, 'worker', (error) => logger.error({ err: error }, 'queue')),
    pruner: null,
  }
  try {
    await work(parts, config, logger, metrics)
    return { queue: parts.queue, plane: parts.plane, stop: () => stopWorker(parts) }
  } catch (error) {
    await stopWorker(parts)
    throw error
  }
}

type Parts = { db: Database; plane: IdentityPlane; queue: PgBoss; pruner: Pruner | null }

async function work(
  parts: Parts,
  config: Config,
  logger: FastifyBaseLogger,
  metrics: Metrics,
): Promise<void> {
  const { db, plane, queue } = parts
  const { clock, encryptionKeys: keys } = config
  const providers = createProviders(config.providers, clock, (provider, position) =>
    logger.warn({ provider, position }, 'another client secret was accepted'),
  )
  await queue.start()
  const { api, retentionDays } = config.billing
  await workBilling({
    queue,
    db,
    plane,
    api: api && createProviderApi(api),
    retentionDays,
    clock,
    metrics: metrics.billing,
    logger,
  })
  await workRevocations(queue, { plane, keys, providers }, logger)
  parts.pruner = startPruner(plane, config.session, logger)
}

/** Stops taking jobs, lets those under way finish, hands back the rest. */
async function stopWorker({ queue, pruner, db, plane }: Parts): Promise<void> {
  await Promise.all([queue.stop({ graceful: true, timeout: stopTimeoutMs }), pruner?.stop()])
  await Promise.all([db.close(), plane.close()])
}
