import { type SendResult, succeeded } from '#src/webhooks/client/sender.ts'
import { type AttemptOutcome, affectsState } from '#src/webhooks/health/state.ts'
import type { DueAttempt, DueDelivery } from './claim.ts'
import type { EndpointOutcome } from './record-health.ts'

/** The outcome of a due attempt. */
export type DeliveryOutcome = Attempted | Postponed | GivenUp

type Subject = {
  deliveryId: string
  endpointId: string
  series: number
  /** Attempts already made in this series. */
  attempts: number
}

type Attempted = Subject & {
  kind: 'attempted'
  result: SendResult
  /** What follows. */
  step: Step
  /** When the attempt ended, in ms of `performance.now()`. The wait is counted from there. */
  endedMs: number
  /** The next job comes after those of healthy endpoints. */
  lowPriority: boolean
  isTrial: boolean
  /** Set if it changes the state of the endpoint. */
  endpointOutcome: EndpointOutcome | null
}

/** The first attempt has to wait. */
type Postponed = Subject &
  Pick<Attempted, 'endedMs' | 'lowPriority'> & {
    kind: 'postponed'
    waitSeconds: number
  }

/** The endpoint is disabled. */
type GivenUp = Subject & { kind: 'given-up' }

function subjectOf({ id: deliveryId, endpoint, series, attempts }: DueDelivery): Subject {
  return { deliveryId, endpointId: endpoint.id, series, attempts }
}

function isLowPriority({ endpoint }: DueDelivery): boolean {
  return endpoint.status === 'failing'
}

export function givenUp(delivery: DueDelivery): DeliveryOutcome {
  return { kind: 'given-up', ...subjectOf(delivery) }
}

export function postponed(delivery: DueDelivery, waitSeconds: number): DeliveryOutcome {
  const lowPriority = isLowPriority(delivery)
  const endedMs = performance.now()
  return { kind: 'postponed', ...subjectOf(delivery), waitSeconds, lowPriority, endedMs }
}

/** @param retrySeconds the schedule; a trial has one attempt */
export function attempted(
  delivery: DueDelivery,
  result: SendResult,
  retrySeconds: readonly number[],
  now: Date,
): DeliveryOutcome {
  const { isTrial, attempts } = delivery
  const step = nextStep(attempts + 1, result, isTrial ? [] : retrySeconds)
  return {
    kind: 'attempted',
    ...subjectOf(delivery),
    result,
    step,
    endedMs: performance.now(),
    lowPriority: isLowPriority(delivery),
    isTrial,
    endpointOutcome: endpointOutcomeOf(delivery, result, step, now),
  }
}

function endpointOutcomeOf(
  { endpoint, isTrial }: DueDelivery,
  { statusCode, cause, certificateExpiresAt }: SendResult,
  step: Step,
  now: Date,
): EndpointOutcome | null {
  // A trial that fails does not exhaust its delivery once more.
  const failure = isTrial || step.outcome !== 'exhausted' ? 'failed' : 'exhausted'
  const outcome: AttemptOutcome =
    step.outcome === 'succeeded'
      ? { kind: 'succeeded', isTrial }
      : { kind: failure, isTrial, statusCode, cause }
  if (!affectsState(endpoint, outcome, now)) return null
  return { endpointId: endpoint.id, outcome, certificateExpiresAt }
}

/** The status of the delivery afterwards. */
export function statusAfter(outcome: DeliveryOutcome): 'pending' | 'succeeded' | 'exhausted' {
  switch (outcome.kind) {
    case 'attempted':
      return outcome.step.outcome ?? 'pending'
    case 'postponed':
      return 'pending'
    case 'given-up':
      return 'exhausted'
  }
}

/** Seconds from now until the next attempt; null if there is none. */
export function waitAfter(outcome: DeliveryOutcome): number | null {
  if (outcome.kind === 'given-up') return null
  const waitSeconds = outcome.kind === 'postponed' ? outcome.waitSeconds : waitOf(outcome.step)
  if (waitSeconds === null) return null
  return Math.max(0, waitSeconds - (performance.now() - outcome.endedMs) / 1_000)
}

function waitOf(step: Step): number | null {
  return step.outcome === null ? step.waitSeconds : null
}

/** What follows an attempt: an outcome, or `waitSeconds` from its end to the next attempt. */
export type Step = { outcome: 'succeeded' | 'exhausted' } | { outcome: null; waitSeconds: number }

// A receiver cannot put an attempt off longer than this.
const maxRetryAfterSeconds = 7_200

/**
 * The schedule (specification, Events). The first 2xx succeeds; the last failure exhausts. A receiver that
 * asks for a longer wait (`Retry-After`) gets it, but no further attempts.
 * @param attempt the attempt that was made, from 1
 * @param retrySeconds the waits before attempts 1, 2, …
 */
export function nextStep(
  attempt: number,
  result: Pick<SendResult, 'statusCode' | 'error' | 'retryAfterSeconds'>,
  retrySeconds: readonly number[],
): Step {
  if (succeeded(result)) return { outcome: 'succeeded' }
  const scheduled = retrySeconds[attempt]
  if (scheduled === undefined) return { outcome: 'exhausted' }
  const asked = Math.min(result.retryAfterSeconds ?? 0, maxRetryAfterSeconds)
  return { outcome: null, waitSeconds: Math.max(scheduled, asked) }
}

/** The fields of a delivery that `decideStart` reads. */
export type Startable = Pick<
  DueDelivery,
  'status' | 'series' | 'attempts' | 'createdAt' | 'isTrial'
> & {
  endpoint: Pick<DueDelivery['endpoint'], 'status'>
}

/** `drop`: the attempt is outdated or its delivery is gone. `give-up`: the endpoint is disabled. */
export type Start = 'attempt' | 'drop' | 'give-up' | { waitSeconds: number }

/**
 * Whether an attempt may be made. It is outdated if the delivery has moved on since: after a
 * crash, a replay or the end of the schedule.
 */
export function decideStart(
  due: Pick<DueAttempt, 'series' | 'number'>,
  delivery: Startable | null,
  [firstWaitSeconds = 0]: readonly number[],
  now: Date,
): Start {
  const isDue =
    delivery?.status === 'pending' &&
    delivery.series === due.series &&
    delivery.attempts === due.number - 1
  if (!isDue) return 'drop'
  if (delivery.isTrial) return 'attempt'
  if (delivery.endpoint.status === 'disabled') return 'give-up'
  if (due.series > 0 || due.number > 1) return 'attempt'
  // `publish` does not know the schedule, so the wait before the first attempt is applied here.
  const waitSeconds = firstWaitSeconds - (now.getTime() - delivery.createdAt.getTime()) / 1_000
  return waitSeconds > 0 ? { waitSeconds } : 'attempt'
}
