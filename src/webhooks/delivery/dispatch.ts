import { setTimeout as wait } from 'node:timers/promises'
import type { Job, PgBoss } from 'pg-boss'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import type { Database } from '#src/db/database.ts'
import { isDatabaseUnavailable } from '#src/db/errors.ts'
import { createGroupCommit, type GroupCommit } from '#src/db/group-commit.ts'
import { createFailureLog } from '#src/observability/failure-log.ts'
import type { JobLog } from '#src/observability/logger.ts'
import type { OutboundMetrics } from '#src/observability/metrics.ts'
import { type Tracing, untraced, type Work } from '#src/observability/tracing.ts'
import type { Dispatch } from '#src/queue/consumer.ts'
import { enterJobs, JobGone } from '#src/queue/enter-jobs.ts'
import type { DeliverJob } from '#src/queue/queue.ts'
import type { Clock } from '#src/runtime/clock.ts'
import type { Sender, SendResult } from '#src/webhooks/client/client.ts'
import { PostponedError } from '#src/webhooks/client/errors.ts'
import { attemptDelivery, succeeded } from './attempt.ts'
import type { AttemptLog } from './attempt-log.ts'
import { type DueDelivery, findDueDeliveries } from './due.ts'
import { holdBeyondLimit } from './hold.ts'
import { deliverQueue } from './job.ts'
import { attempted, type DeliveryOutcome, givenUp, postponed, statusAfter } from './outcome.ts'
import { type JobOutcome, recordOutcomes } from './record.ts'
import { decideStart } from './retry-schedule.ts'

export type DispatchDeps = {
  queue: PgBoss
  db: Database
  sender: Sender
  keys: EncryptionKeys
  retrySeconds: readonly number[]
  clock: Clock
  metrics: OutboundMetrics
  tracing?: Tracing
  logger: JobLog
  attemptLog: AttemptLog
}

type Loaded = {
  due: ReadonlyMap<string, DueDelivery>
  /** Ids of jobs whose deliveries are held for a rate limit. */
  held: ReadonlySet<string>
}

const nothingHeld: ReadonlySet<string> = new Set()
const concurrentTenants = 4 // connections of the pool: this many to read and this many to write

/** Runs jobs, each in the scope of its tenant: one attempt, and its outcome in one commit. */
export function createDispatcher(deps: DispatchDeps): Dispatch<Job<DeliverJob>> {
  const { db, queue, clock, retrySeconds, metrics, logger, attemptLog, tracing = untraced } = deps
  const readLimit = createLimit(concurrentTenants)
  const writeLimit = createLimit(concurrentTenants)
  const groups = new Map<string, GroupCommit<JobOutcome, void>>()
  const faults = createFailureLog(logger, 'delivery attempts postponed: the fault is ours')

  /** One group commit per tenant, because a transaction has the scope of one tenant. */
  function record(tenantId: string, outcome: JobOutcome): Promise<void> {
    const group = groups.get(tenantId) ?? openGroup(tenantId)
    return group.add(outcome)
  }

  function openGroup(tenantId: string): GroupCommit<JobOutcome, void> {
    const group = createGroupCommit<JobOutcome, void>({
      async commit(entries) {
        await recordAll(entries.map(({ item }) => item))
        for (const { resolve } of entries) resolve()
      },
      onIdle: () => groups.delete(tenantId),
    })
    groups.set(tenantId, group)
    return group
  }

  /**
   * Records nothing if none of the jobs is active any more: a commit whose answer was lost has recorded
   * them, or another worker repeats them.
   */
  async function recordAll(outcomes: readonly JobOutcome[]): Promise<void> {
    const ids = outcomes.map(({ jobId }) => jobId)
    try {
      await writeLimit(() =>
        db.write(enterJobs(deliverQueue, ids), (tx, scope) =>
          recordOutcomes(tx, queue, scope, outcomes, clock.now()),
        ),
      )
    } catch (error) {
      if (!(error instanceof JobGone)) throw error
      logger.warn({ jobs: ids.length }, 'delivery jobs no longer active when recorded')
    }
  }

  async function load(jobs: readonly Job<DeliverJob>[]): Promise<Loaded> {
    const jobIds = jobs.map(({ id }) => id)
    const ids = jobs.map(({ data }) => data.deliveryId)
    const due = await readLimit(() =>
      db.read(enterJobs(deliverQueue, jobIds), (tx, scope) => findDueDeliveries(tx, scope, ids)),
    )
    return { due, held: await hold(jobs, due) }
  }

  /** Only endpoints with a rate limit need it. */
  async function hold(
    jobs: readonly Job<DeliverJob>[],
    due: Loaded['due'],
  ): Promise<Loaded['held']> {
    const now = clock.now()
    const limited = jobs.flatMap(({ id, data }) => {
      const delivery = due.get(data.deliveryId)
      const isLimited = delivery?.endpoint.isLimited === true && data.released !== true
      const isDue = isLimited && decideStart(data, delivery, retrySeconds, now) === 'attempt'
      if (!isDue) return []
      const { endpoint, createdAt } = delivery
      return [{ jobId: id, deliveryId: delivery.id, endpointId: endpoint.id, createdAt }]
    })
    if (limited.length === 0) return nothingHeld
    const entry = enterJobs(
      deliverQueue,
      limited.map(({ jobId }) => jobId),
    )
    return writeLimit(() =>
      db.write(entry, (tx, scope) => holdBeyondLimit(tx, queue, scope, limited, now)),
    )
  }

  async function work(
    job: Job<DeliverJob>,
    loaded: Promise<Loaded>,
    abandoned: AbortSignal,
  ): Promise<void> {
    const { id: jobId, data } = job
    try {
      const { due, held } = await loaded
      if (held.has(jobId)) return
      const delivery = due.get(data.deliveryId)
      const outcome = await runJob(data, delivery)
      await retryWhileUnavailable(() => record(data.tenantId, { jobId, outcome }), abandoned)
      if (outcome !== null) report(data, outcome, delivery)
    } catch (error) {
      if (abandoned.aborted) return
      if (error instanceof JobGone) return logger.warn(data, 'delivery job no longer active')
      if (error instanceof PostponedError) reportPostponed(error)
      else logger.error({ ...data, err: error }, 'delivery job failed')
      await giveBack(job, error)
    }
  }

  /** A busy address and a stop are no faults. */
  function reportPostponed(error: PostponedError): void {
    const { reason } = error
    metrics.postponed.inc({ reason })
    if (reason !== 'address-busy' && reason !== 'stopped') faults.add(error)
  }

  /**
   * Returns a job at once, so that it does not hold a slot of its endpoint. It becomes due again after
   * 1 s, 2 s, 4 s … up to a minute, for any worker. The attempt is not used up.
   */
  async function giveBack(job: Job<DeliverJob>, error: unknown): Promise<void> {
    try {
      await queue.fail(deliverQueue, job, { message: String(error) })
    } catch (error) {
      // Without a heartbeat it returns by itself.
      logger.warn({ ...job.data, err: error }, 'delivery job not returned to the queue')
    }
  }

  /** Makes the attempt of a job, if it is still due. @returns what to record; null for nothing */
  async function runJob(
    job: DeliverJob,
    delivery: DueDelivery | undefined,
  ): Promise<DeliveryOutcome | null> {
    const now = clock.now()
    const start = decideStart(job, delivery, retrySeconds, now)
    if (delivery === undefined || start === 'drop') return null
    if (start === 'give-up') return givenUp(delivery)
    if (start !== 'attempt') return postponed(delivery, start.waitSeconds)
    if (job.series === 0 && job.number === 1 && !delivery.isTrial) {
      metrics.lag.observe((now.getTime() - delivery.createdAt.getTime()) / 1_000)
    }
    const result = await attempt(job, delivery)
    return attempted(delivery, result, retrySeconds, clock.now())
  }

  function attempt({ deliveryId, number }: DeliverJob, delivery: DueDelivery): Promise<SendResult> {
    const { event } = delivery
    const facts = {
      'gatehouse.event_id': event.id,
      'gatehouse.delivery_id': deliveryId,
      'gatehouse.attempt': number,
    }
    const send: Work<SendResult> = async (note) => {
      const result = await attemptDelivery(delivery, deps)
      const { statusCode } = result
      if (statusCode !== null) note({ 'http.response.status_code': statusCode })
      note({ 'gatehouse.outcome': succeeded(result) ? 'succeeded' : 'failed' })
      return result
    }
    return tracing.span('delivery attempt', facts, send, event.traceparent)
  }

  function report(job: DeliverJob, outcome: DeliveryOutcome, delivery?: DueDelivery): void {
    const status = statusAfter(outcome)
    // A trial ends a delivery that was counted before.
    const isCounted = outcome.kind !== 'attempted' || !outcome.isTrial || status === 'succeeded'
    if (status !== 'pending' && isCounted) metrics.deliveries.inc({ outcome: status })
    if (outcome.kind !== 'attempted') return
    const { endpointId, result } = outcome
    metrics.seconds.observe(result.durationMs / 1_000)
    metrics.attempts.inc({ outcome: succeeded(result) ? 'succeeded' : 'failed' })
    const { tenantId, deliveryId, series, number: attempt } = job
    const { statusCode, durationMs: ms, cause: failure } = result
    const facts = {
      ...{ tenantId, eventId: delivery?.event.id, deliveryId, endpointId, series, attempt },
      ...{ status, statusCode, ms, ...(failure !== null && { failure }) },
      ...delivery?.event.cause,
    }
    attemptLog.add(status === 'exhausted' ? 'warn' : 'info', facts, succeeded(result))
  }

  return function dispatch(jobs, abandoned) {
    const byTenant = Map.groupBy(jobs, ({ data }) => data.tenantId)
    const loads = new Map([...byTenant].map(([tenantId, some]) => [tenantId, load(some)] as const))
    return jobs.map((job) => {
      const loaded = loads.get(job.data.tenantId) ?? load([job])
      return work(job, loaded, abandoned)
    })
  }
}

/** Runs at most a fixed number of calls at once; the others wait in order. */
export type Limit = <T>(work: () => Promise<T>) => Promise<T>

export function createLimit(maxRunning: number): Limit {
  const waiting: (() => void)[] = []
  let running = 0
  return async function run(work) {
    if (running < maxRunning) running += 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      // The next call takes over this one's place, so `running` stays the same.
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}

const firstWaitMs = 50
const maxWaitMs = 2_000

/**
 * Repeats `write` while the database is unavailable, however long: the result of an attempt exists
 * only here. Once another worker has the job, there is nothing left to write.
 * @throws the last error once `abandoned`
 */
async function retryWhileUnavailable(
  write: () => Promise<void>,
  abandoned: AbortSignal,
): Promise<void> {
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, maxWaitMs)) {
    abandoned.throwIfAborted()
    try {
      return await write()
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error
      await wait(waitMs, undefined, { signal: abandoned })
    }
  }
}
