import { type EncryptionKeys, UnsealError } from '#src/crypto/encryption.ts'
import type { AttemptLog } from '#src/observability/attempt-log.ts'
import type { OutboundMetrics } from '#src/observability/metrics.ts'
import type { Tracing, Work } from '#src/observability/tracing.ts'
import { type Clock, unixSeconds } from '#src/runtime/clock.ts'
import { PostponedError } from '#src/webhooks/client/errors.ts'
import { type Sender, type SendResult, succeeded } from '#src/webhooks/client/sender.ts'
import { openEndpointSecrets } from '#src/webhooks/signing/secrets.ts'
import { signDelivery } from '#src/webhooks/signing/signature.ts'
import type { DueAttempt, DueDelivery, Target } from './claim.ts'
import {
  attempted,
  type DeliveryOutcome,
  decideStart,
  givenUp,
  postponed,
  statusAfter,
} from './outcome.ts'

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

export type AttemptDeps = { sender: Pick<Sender, 'send'>; keys: EncryptionKeys; clock: Clock }

/**
 * Makes one attempt. All attempts of an event have the same id and bytes; each has its own timestamp
 * and signature.
 * @throws PostponedError if we cannot make it: then it does not count and is made later
 */
export async function attemptDelivery(
  { event, endpoint }: { event: Pick<DueDelivery['event'], 'id' | 'body'>; endpoint: Target },
  { sender, keys, clock }: AttemptDeps,
): Promise<SendResult> {
  const timestamp = unixSeconds(clock)
  const signature = signDelivery({
    profile: endpoint.signature,
    secrets: openSecrets(keys, endpoint, clock.now()),
    id: event.id,
    timestamp,
    body: event.body,
  })
  const headers = {
    'webhook-id': event.id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signature,
  }
  const { tenantId, url } = endpoint
  return sender.send({ tenantId, url, headers, body: event.body })
}

/** The secrets of the endpoints of a claim, which its deliveries share, and until when they sign. */
const opened = new WeakMap<Target, { secrets: readonly string[]; until: number }>()

/**
 * The secrets that sign for an endpoint at `now`.
 * @throws PostponedError during a rotation of ENCRYPTION_KEYS, if only another process has the key yet
 */
export function openSecrets(keys: EncryptionKeys, endpoint: Target, now: Date): readonly string[] {
  const known = opened.get(endpoint)
  if (known !== undefined && now.getTime() < known.until) return known.secrets
  try {
    const secrets = openEndpointSecrets(keys, endpoint, now)
    const endsMs = endpoint.previousSecretExpiresAt?.getTime() ?? Number.POSITIVE_INFINITY
    const until = secrets.length > 1 ? endsMs : Number.POSITIVE_INFINITY
    opened.set(endpoint, { secrets, until })
    return secrets
  } catch (error) {
    if (error instanceof UnsealError) throw new PostponedError('secret', error.message)
    throw error
  }
}
