import { setTimeout as wait } from 'node:timers/promises'
import type { Job, PgBoss } from 'pg-boss'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import type { Database } from '#src/db/database.ts'
import { isDatabaseUnavailable } from '#src/http/problems.ts'
import type { JobLog } from '#src/observability/logger.ts'
import type { OutboundMetrics } from '#src/observability/metrics.ts'
import { type Tracing, untraced } from '#src/observability/tracing.ts'
import type { DeliverJob } from '#src/queue/queue.ts'
import type { Clock } from '#src/runtime/clock.ts'
import type { Sender, SendResult } from '#src/webhooks/client/client.ts'
import { isWorthNoting } from '#src/webhooks/endpoints/health.ts'
import { attemptDelivery, succeeded } from './attempt.ts'
import { type DueDelivery, findDueDeliveries } from './due.ts'
import { createGroupCommit } from './group-commit.ts'
import { type Move, type Outcome, recordOutcomes } from './record.ts'
import { decideStart, nextStep } from './retry-schedule.ts'

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
}

/**
 * Works jobs, each in the scope of its tenant: one attempt, and what came of it in one commit. One
 * promise for every job, in their order; none rejects. After `abandoned` nothing is recorded any
 * more: the attempts are made again by whoever takes the jobs next.
 */
export type Dispatch = (
  jobs: readonly Job<DeliverJob>[],
  abandoned: AbortSignal,
) => readonly Promise<void>[]

const tenantsAtOnce = 4 // of the connections of the pool, for reading and for writing each

export function createDispatcher(deps: DispatchDeps): Dispatch {
  const { db, queue, clock, retrySeconds, metrics, logger, tracing = untraced } = deps
  const readLimit = createLimit(tenantsAtOnce)
  const writeLimit = createLimit(tenantsAtOnce)
  const record = createGroupCommit<Outcome>((tenantId, outcomes) =>
    writeLimit(() =>
      db.write({ tenantId }, (tx) =>
        recordOutcomes(tx, queue, { tenantId }, outcomes, clock.now()),
      ),
    ),
  )

  function load(tenantId: string, jobs: readonly Job<DeliverJob>[]) {
    const ids = jobs.map(({ data }) => data.deliveryId)
    return readLimit(() => db.read({ tenantId }, (tx) => findDueDeliveries(tx, { tenantId }, ids)))
  }

  async function work(
    { id: jobId, data }: Job<DeliverJob>,
    loaded: Promise<ReadonlyMap<string, DueDelivery>>,
    abandoned: AbortSignal,
  ): Promise<void> {
    try {
      const delivery = (await loaded).get(data.deliveryId)
      const move = await moveOf(data, delivery)
      await persist(() => record(data.tenantId, { jobId, move }), abandoned)
      if (move !== null) tell(data, move)
    } catch (error) {
      if (!abandoned.aborted) logger.error({ ...data, err: error }, 'delivery broke off')
    }
  }

  async function moveOf(job: DeliverJob, delivery: DueDelivery | undefined): Promise<Move | null> {
    const now = clock.now()
    const start = decideStart(job, delivery, retrySeconds, now)
    if (delivery === undefined || start === 'drop') return null
    const { endpoint } = delivery
    const move = {
      deliveryId: delivery.id,
      endpointId: endpoint.id,
      series: job.series,
      attempts: { before: delivery.attempts, after: delivery.attempts },
      endedMs: performance.now(),
      waitSeconds: null,
      lowPriority: endpoint.status === 'failing',
      result: null,
      note: null,
    }
    if (start === 'give-up') return { ...move, status: 'exhausted' }
    if (start !== 'attempt') return { ...move, status: 'pending', ...start }
    if (job.series === 0 && job.number === 1) {
      metrics.lag.observe((now.getTime() - delivery.createdAt.getTime()) / 1_000)
    }
    return afterAttempt(job, delivery, move, await attempt(job, delivery))
  }

  function attempt({ deliveryId, number }: DeliverJob, delivery: DueDelivery): Promise<SendResult> {
    const facts = { 'gatehouse.delivery_id': deliveryId, 'gatehouse.attempt': number }
    return tracing.span('delivery attempt', facts, async (note) => {
      const result = await attemptDelivery(delivery, deps)
      const { statusCode } = result
      if (statusCode !== null) note({ 'http.response.status_code': statusCode })
      note({ 'gatehouse.outcome': succeeded(result) ? 'succeeded' : 'failed' })
      return result
    })
  }

  function afterAttempt(
    { number }: DeliverJob,
    { endpoint }: DueDelivery,
    move: Omit<Move, 'status'>,
    result: SendResult,
  ): Move {
    const step = nextStep(number, succeeded(result), retrySeconds)
    const made = {
      ...move,
      attempts: { before: number - 1, after: number },
      endedMs: performance.now(),
      result,
    }
    if (step.end === null) return { ...made, status: 'pending', waitSeconds: step.waitSeconds }
    const note = isWorthNoting(endpoint, step.end, clock.now())
      ? { endpointId: endpoint.id, ended: step.end }
      : null
    return { ...made, status: step.end, note }
  }

  function tell(job: DeliverJob, { status, result }: Move): void {
    if (status !== 'pending') metrics.deliveries.inc({ outcome: status })
    if (result === null) return
    metrics.seconds.observe(result.durationMs / 1_000)
    metrics.attempts.inc({ outcome: succeeded(result) ? 'succeeded' : 'failed' })
    if (succeeded(result)) return // the rule, and there are many
    const { statusCode, cause } = result
    logger[status === 'exhausted' ? 'warn' : 'info'](
      { ...job, status, statusCode, cause },
      'delivery attempt failed',
    )
  }

  return function dispatch(jobs, abandoned) {
    const byTenant = Map.groupBy(jobs, ({ data }) => data.tenantId)
    const loads = new Map(
      [...byTenant].map(([tenantId, some]) => [tenantId, load(tenantId, some)] as const),
    )
    return jobs.map((job) => {
      const loaded = loads.get(job.data.tenantId) ?? Promise.resolve(new Map())
      return work(job, loaded, abandoned)
    })
  }
}

/** Runs work, so many at once at most; the rest waits in the order it came. */
export type Limit = <T>(work: () => Promise<T>) => Promise<T>

export function createLimit(atOnce: number): Limit {
  const waiting: (() => void)[] = []
  let running = 0
  return async function run(work) {
    if (running < atOnce) running += 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      // Whoever comes next takes the place over.
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}

const firstWaitMs = 50
const longestWaitMs = 2_000
const giveUpMs = 20_000 // the job's own time ends after that, and the attempt is made again

/**
 * Runs `write` until the database takes it: what is known after an attempt is known only here.
 * @throws what the last try threw, once it is too late or `abandoned`
 */
async function persist(write: () => Promise<void>, abandoned: AbortSignal): Promise<void> {
  const end = performance.now() + giveUpMs
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
    abandoned.throwIfAborted()
    try {
      return await write()
    } catch (error) {
      if (!isDatabaseUnavailable(error) || performance.now() + waitMs > end) throw error
      await wait(waitMs, undefined, { signal: abandoned })
    }
  }
}
