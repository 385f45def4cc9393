import type { DueAttempt, DueDelivery } from './claim.ts'

/** What follows an attempt: an outcome, or `waitSeconds` from its end to the next attempt. */
export type Step = { outcome: 'succeeded' | 'exhausted' } | { outcome: null; waitSeconds: number }

/**
 * The schedule (specification, Events). The first 2xx succeeds; the last failure exhausts.
 * @param attempt the attempt that was made, from 1
 * @param retrySeconds the waits before attempts 1, 2, …
 */
export function nextStep(
  attempt: number,
  succeeded: boolean,
  retrySeconds: readonly number[],
): Step {
  if (succeeded) return { outcome: 'succeeded' }
  const waitSeconds = retrySeconds[attempt]
  return waitSeconds === undefined ? { outcome: 'exhausted' } : { outcome: null, waitSeconds }
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
