import type { Job, JobWithMetadata } from 'pg-boss'
import type { OutboundConfig } from '#src/config/parse.ts'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import type { Database } from '#src/db/database.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { type Consumer, type ConsumerOptions, startConsumer } from '#src/queue/consumer.ts'
import { enterJobs } from '#src/queue/enter-jobs.ts'
import { isTimely } from '#src/queue/job-table.ts'
import type { EndpointCallJob } from '#src/queue/queue.ts'
import type { Clock } from '#src/runtime/clock.ts'
import { createSender } from '#src/webhooks/client/client.ts'
import { PostponedError } from '#src/webhooks/client/errors.ts'
import type { AttemptDeps } from '#src/webhooks/delivery/attempt.ts'
import { endpointCallQueue } from '#src/webhooks/schedule/due-attempts.ts'
import type { SignatureProfile } from '#src/webhooks/signing/signature.ts'
import { type CallOutput, calledSeconds, sealOutput, takenSeconds } from './call.ts'
import { makeProbe } from './probe.ts'
import { makeTest } from './test-event.ts'

export type CallWorkerDeps = Pick<ConsumerOptions<Job>, 'queue' | 'due' | 'logger'> & {
  db: Database
  systemDb: Queryable
  keys: EncryptionKeys
  clock: Clock
}

// A probe has four requests in progress. One tenant leaves room for the others.
const inFlight = 64
const perTenant = 8
const stopMs = 6_000

/** Starts the consumer of calls that a request waits for. */
export async function workCalls(
  { allow, timeoutMs, perAddress }: OutboundConfig,
  deps: CallWorkerDeps,
): Promise<Consumer> {
  const { queue, due, db, systemDb, keys, clock, logger } = deps
  // A request waits for the answer, so an attempt may not take all of a longer OUTBOUND_TIMEOUT_MS.
  const longestMs = Math.min(timeoutMs, calledSeconds * 1_000)
  const sender = createSender({ allow, timeoutMs: longestMs, perAddress, clock })
  const attemptDeps = { sender, keys, clock }

  async function work(job: CallJob): Promise<void> {
    // The request that waited has given up and may have been repeated: a call now could be the second.
    const isAwaited = await isTimely(systemDb, job, takenSeconds)
    const output = isAwaited ? await call(db, job, attemptDeps) : { gone: true as const }
    await queue.complete(endpointCallQueue, job, sealOutput(keys, job.id, output))
  }

  async function run(job: CallJob, abandoned: AbortSignal): Promise<void> {
    try {
      await work(job)
    } catch (error) {
      if (abandoned.aborted) return
      const { tenantId, endpointId } = job.data
      logger.error({ tenantId, endpointId, err: error }, 'endpoint was not called')
      await queue.fail(endpointCallQueue, job, { message: String(error) }).catch(() => {})
    }
  }

  const options = { includeMetadata: true, groupConcurrency: perTenant } as const
  const consumer = await startConsumer<CallJob>({
    queue,
    due,
    name: endpointCallQueue,
    limits: { inFlight, stopMs },
    fetch: (batchSize) =>
      queue.fetch<EndpointCallJob>(endpointCallQueue, { batchSize, ...options }),
    run: (jobs, abandoned) => jobs.map((job) => run(job, abandoned)),
    logger,
  })
  return {
    ...consumer,
    async stop() {
      await consumer.stop()
      await sender.close()
    },
  }
}

type CallJob = JobWithMetadata<EndpointCallJob>

async function call(
  db: Database,
  { id: jobId, data }: CallJob,
  deps: AttemptDeps,
): Promise<CallOutput<unknown>> {
  const { endpointId } = data
  const endpoint = await db.read(enterJobs(endpointCallQueue, [jobId]), (tx, { tenantId }) =>
    tx.webhookEndpoint.findFirst({ where: { tenantId, id: endpointId } }),
  )
  if (endpoint === null) return { gone: true }
  const { tenantId } = endpoint
  const signature = endpoint.signature as SignatureProfile // webhook_endpoints_signature_check
  const target = { ...endpoint, signature }
  try {
    if (data.kind === 'probe') return { made: await makeProbe(target, data.at, deps) }
    return { made: await makeTest(target, { ...data, tenantId }, deps) }
  } catch (error) {
    if (error instanceof PostponedError) return { postponed: [error.reason, error.message] }
    throw error
  }
}
