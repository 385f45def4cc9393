import type { AttemptLog } from '#src/observability/attempt-log.ts'
import type { OutboundMetrics } from '#src/observability/metrics.ts'
import type { Tracing, Work } from '#src/observability/tracing.ts'
import type { Clock } from '#src/runtime/clock.ts'
import { type SendResult, succeeded } from '#src/webhooks/client/client.ts'
import { type AttemptDeps, attemptDelivery } from './attempt.ts'
import type { DueAttempt, DueDelivery } from './claim.ts'
import { attempted, type DeliveryOutcome, givenUp, postponed, statusAfter } from './outcome.ts'
import { decideStart } from './retry-schedule.ts'

export type RunnerDeps = AttemptDeps & {
  retrySeconds: readonly number[]
  clock: Clock
  metrics: OutboundMetrics
  tracing: Tracing
  attemptLog: AttemptLog
}

/**
 * Makes due attempts, and counts and logs them.
 * @returns what to record; null if the attempt is no longer due
 * @throws PostponedError if the attempt has to be made later
 */
export function createRunner(
  deps: RunnerDeps,
): (due: DueAttempt) => Promise<DeliveryOutcome | null> {
  const { retrySeconds, clock, metrics, tracing, attemptLog } = deps

  async function outcomeOf(due: DueAttempt): Promise<DeliveryOutcome | null> {
    const { delivery } = due
    const now = clock.now()
    const start = decideStart(due, delivery, retrySeconds, now)
    if (delivery === null || start === 'drop') return null
    if (start === 'give-up') return givenUp(delivery)
    if (start !== 'attempt') return postponed(delivery, start.waitSeconds)
    if (due.series === 0 && due.number === 1 && !delivery.isTrial) {
      metrics.lag.observe((now.getTime() - delivery.createdAt.getTime()) / 1_000)
    }
    const result = await attempt(due, delivery)
    return attempted(delivery, result, retrySeconds, clock.now())
  }

  function attempt({ deliveryId, number }: DueAttempt, delivery: DueDelivery): Promise<SendResult> {
    if (!tracing.on) return attemptDelivery(delivery, deps)
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

  function report(due: DueAttempt, outcome: DeliveryOutcome): void {
    const status = statusAfter(outcome)
    // A trial ends a delivery that was counted before.
    const isCounted = outcome.kind !== 'attempted' || !outcome.isTrial || status === 'succeeded'
    if (status !== 'pending' && isCounted) metrics.deliveries.inc({ outcome: status })
    if (outcome.kind !== 'attempted') return
    const { endpointId, result } = outcome
    metrics.seconds.observe(result.durationMs / 1_000)
    metrics.attempts.inc({ outcome: succeeded(result) ? 'succeeded' : 'failed' })
    const { tenantId, deliveryId, series, number: attempt, delivery } = due
    const { statusCode, durationMs: ms, cause: failure } = result
    const facts = {
      ...{ tenantId, eventId: delivery?.event.id, deliveryId, endpointId, series, attempt },
      ...{ status, statusCode, ms, ...(failure !== null && { failure }) },
      ...delivery?.event.cause,
    }
    attemptLog.add(status === 'exhausted' ? 'warn' : 'info', facts, succeeded(result))
  }

  return async function run(due) {
    const outcome = await outcomeOf(due)
    if (outcome !== null) report(due, outcome)
    return outcome
  }
}
