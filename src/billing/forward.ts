import type { JobWithMetadata, PgBoss } from 'pg-boss'
import type { AppWebhook } from '#src/config/app-webhook.ts'
import type { OutboundConfig } from '#src/config/parse.ts'
import type { Database, Tx } from '#src/db/database.ts'
import { withoutScope } from '#src/db/entry.ts'
import type { SystemDatabase } from '#src/db/system-database.ts'
import type { JobLog } from '#src/observability/logger.ts'
import type { BillingMetrics } from '#src/observability/metrics.ts'
import { type Consumer, startConsumer } from '#src/queue/consumer.ts'
import type { DueJobs } from '#src/queue/due-jobs.ts'
import { JobGone } from '#src/queue/enter-jobs.ts'
import { postponeJob } from '#src/queue/job-table.ts'
import { addJob } from '#src/queue/jobs.ts'
import type { Jobs } from '#src/queue/queue.ts'
import { type Clock, unixSeconds } from '#src/runtime/clock.ts'
import { createSender } from '#src/webhooks/client/client.ts'
import { PostponedError } from '#src/webhooks/client/errors.ts'
import type { Sender, SendResult } from '#src/webhooks/client/sender.ts'
import { nextStep, type Step } from '#src/webhooks/delivery/outcome.ts'
import { signDelivery } from '#src/webhooks/signing/signature.ts'
import { completeJob } from './job.ts'

/*
 * Posts processed billing events to your app (APP_WEBHOOK_URL), at
 * least once each. Signature, attempts and limits are those of customers' webhooks. The endpoint belongs to
 * no tenant, so it has no row of webhook_endpoints: its state is in the row of the event.
 */

export type ForwardDeps = {
  queue: PgBoss
  due: DueJobs
  db: Database
  systemDb: SystemDatabase
  clock: Clock
  metrics: BillingMetrics
  logger: JobLog
}

type ForwardJob = JobWithMetadata<Jobs['billing-forward']>
type Schedule = Pick<OutboundConfig, 'retrySeconds' | 'timeoutMs' | 'perAddress'>

const queueName = 'billing-forward'
const limits = { inFlight: 20, stopMs: 6_000 } as const
const busySeconds = 5 // until another request to the address of the app may begin
const maxErrorCharacters = 500

/** Adds the job in the transaction that processes the event, so neither exists without the other. */
export async function addForward(
  tx: Tx,
  queue: PgBoss,
  eventId: string,
  [firstSeconds = 0]: readonly number[],
): Promise<void> {
  await tx.receivedEvent.updateMany({
    where: { eventId },
    data: { forwarding: 'waiting', forwardAttempts: 0, forwardError: null, forwardedAt: null },
  })
  await addJob(queue, tx, queueName, { eventId, attempts: 0 }, { startAfter: firstSeconds })
}

/** Starts posting events to the app. */
export async function workForwards(
  app: AppWebhook,
  { retrySeconds, timeoutMs, perAddress }: Schedule,
  deps: ForwardDeps,
): Promise<Pick<Consumer, 'stop'>> {
  // The operator chose this address, so it may be private. No other sender may call it.
  const { hostname, protocol, port } = new URL(app.url)
  const allow = [`${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`]
  const { queue, due, clock, logger } = deps
  const sender = createSender({ allow, timeoutMs, perAddress, clock })
  const work = { ...deps, retrySeconds, app, sender }
  const consumer = await startConsumer<ForwardJob>({
    queue,
    due,
    name: queueName,
    limits,
    fetch: (batchSize) => queue.fetch(queueName, { batchSize, includeMetadata: true }),
    run: (jobs, abandoned) => jobs.map((job) => forward(work, job, abandoned)),
    logger,
  })
  return {
    async stop() {
      await consumer.stop()
      await sender.close()
    },
  }
}

/** What an attempt needs. */
type Work = ForwardDeps & Pick<Schedule, 'retrySeconds'> & { app: AppWebhook; sender: Sender }

/** Never rejects. If it fails, the job returns. */
async function forward(work: Work, job: ForwardJob, abandoned: AbortSignal): Promise<void> {
  const { queue, db, clock, metrics, logger, app, sender } = work
  const { eventId } = job.data
  try {
    const event = await findWaiting(db, job.data)
    // An operator had the event posted again by another job: that job has delivered it, or goes on.
    if (event === null) return await db.write(withoutScope, (tx) => endJob(tx, queue, job))
    const { body } = event
    const result =
      body === null ? null : await sender.send(requestOf({ ...event, body }, app, clock))
    if (abandoned.aborted) return
    const outcome = await db.write(withoutScope, (tx) => record(work, tx, job, result))
    if (outcome === null) return
    metrics.forwards.inc({ outcome })
    const facts = { eventId, outcome, statusCode: result?.statusCode, cause: result?.cause }
    logger[outcome === 'delivered' ? 'info' : 'warn'](facts, 'billing event posted to the app')
  } catch (error) {
    if (abandoned.aborted) return
    if (error instanceof JobGone) logger.info({ eventId }, 'billing event posted by another worker')
    else await giveBack(work, job, error)
  }
}

async function giveBack(
  { systemDb, queue, logger }: Work,
  job: ForwardJob,
  error: unknown,
): Promise<void> {
  const { eventId } = job.data
  try {
    if (error instanceof PostponedError) return await postponeJob(systemDb, job, busySeconds)
    logger.error({ eventId, err: error }, 'billing event not posted to the app')
    await queue.fail(queueName, job, { message: String(error) })
  } catch (error) {
    // The job returns without its heartbeat.
    logger.warn({ eventId, err: error }, 'billing event not returned to the queue')
  }
}

/**
 * @param result null if the body of the event has been deleted
 * @returns null if the event waits no longer, or another job has made its next attempt
 */
async function record(
  { queue, clock, retrySeconds }: Work,
  tx: Tx,
  job: ForwardJob,
  result: SendResult | null,
) {
  const { eventId } = job.data
  const step: Step =
    result === null
      ? { outcome: 'exhausted' }
      : nextStep(job.data.attempts + 1, result, retrySeconds)
  const isDelivered = step.outcome === 'succeeded'
  const [recorded] = await tx.receivedEvent.updateManyAndReturn({
    where: waitingFor(job.data),
    data: {
      forwardAttempts: { increment: 1 },
      forwardError: isDelivered ? null : errorOf(result).slice(0, maxErrorCharacters),
      forwardedAt: clock.now(),
      ...(isDelivered && { forwarding: 'delivered' }),
    },
    select: { forwardAttempts: true },
  })
  if (recorded === undefined) {
    await completeJob(tx, queue, job)
    return null
  }
  if (step.outcome === null) {
    const data = { eventId, attempts: recorded.forwardAttempts }
    await postponeJob(tx, job, step.waitSeconds, data)
    return 'retried'
  }
  if (!isDelivered) {
    await tx.receivedEvent.update({ where: { eventId }, data: { forwarding: 'failed' } })
  }
  await completeJob(tx, queue, job)
  return isDelivered ? 'delivered' : 'failed'
}

/**
 * Ends a job whose event does not wait. It was looked for in another transaction, which after a failover may
 * have been on a standby that had not replayed it yet.
 * @throws if the event waits
 */
async function endJob(tx: Tx, queue: PgBoss, job: ForwardJob): Promise<void> {
  const waiting = await tx.receivedEvent.count({ where: waitingFor(job.data) })
  if (waiting > 0) throw new Error('the event was not found at first')
  await completeJob(tx, queue, job)
}

/** The request with an event, signed with all secrets of the app. */
function requestOf(
  { eventId, type, receivedAt, body }: Forwarded,
  { url, secrets }: AppWebhook,
  clock: Clock,
) {
  // A provider may put any printable character into an id, a header may not have them.
  const id = encodeURIComponent(eventId)
  const timestamp = unixSeconds(clock)
  const facts = JSON.stringify({ id, type, createdAt: receivedAt.toISOString() })
  // The bytes of the provider, because parsing would round its large numbers.
  const text = `${facts.slice(0, -1)},"data":${body}}`
  const signature = signDelivery({ profile: 'standard', secrets, id, timestamp, body: text })
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signature,
  }
  return { tenantId: null, url, headers, body: text }
}

type Forwarded = { eventId: string; type: string; receivedAt: Date; body: string }

/** An event that is to be posted; its body is null if it has been deleted. */
type WaitingEvent = Omit<Forwarded, 'body'> & { body: string | null }

/**
 * Of two jobs for one event only the one that makes the next attempt goes on: an event waits for a job that has
 * as many attempts.
 */
function waitingFor({ eventId, attempts }: Jobs['billing-forward']) {
  return { eventId, forwarding: 'waiting' as const, forwardAttempts: attempts }
}

/** Null if it does not wait for the job. */
async function findWaiting(
  db: Database,
  job: Jobs['billing-forward'],
): Promise<WaitingEvent | null> {
  const row = await db.read(withoutScope, (tx) =>
    tx.receivedEvent.findFirst({
      where: waitingFor(job),
      select: { type: true, receivedAt: true, body: true },
    }),
  )
  if (row === null) return null
  const body = row.body === null ? null : Buffer.from(row.body).toString('utf8')
  return { ...row, eventId: job.eventId, body }
}

function errorOf(result: SendResult | null): string {
  if (result === null) return 'the body of the event has been deleted'
  return result.cause ?? `the app answered ${result.statusCode}`
}
