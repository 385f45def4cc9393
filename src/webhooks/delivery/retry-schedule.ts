import type { DeliverJob } from '#src/queue/queue.ts'
import type { DueDelivery } from './due.ts'

/** What becomes of a delivery: `waitSeconds` before the next attempt, from the end of this one. */
export type Step = { end: 'succeeded' | 'exhausted' } | { end: null; waitSeconds: number }

/**
 * The schedule (specification, Events): the first 2xx ends it well, the last failure ends it.
 * @param attempt the one that was made, from 1
 * @param retrySeconds the waits before attempts 1, 2, …
 */
export function nextStep(
  attempt: number,
  succeeded: boolean,
  retrySeconds: readonly number[],
): Step {
  if (succeeded) return { end: 'succeeded' }
  const waitSeconds = retrySeconds[attempt]
  return waitSeconds === undefined ? { end: 'exhausted' } : { end: null, waitSeconds }
}

/** What of a delivery decides on that. */
export type Startable = Pick<DueDelivery, 'status' | 'series' | 'attempts' | 'createdAt'> & {
  endpoint: Pick<DueDelivery['endpoint'], 'status'>
}

/** `drop`: not its turn, or no longer there. `give-up`: the endpoint is disabled. */
export type Start = 'attempt' | 'drop' | 'give-up' | { waitSeconds: number }

/**
 * Whether a job may make its attempt. A job that was made before a crash, a manual request or
 * the end of the schedule finds the delivery further on, and does nothing.
 */
export function decideStart(
  job: Pick<DeliverJob, 'series' | 'number'>,
  delivery: Startable | undefined,
  [firstWaitSeconds = 0]: readonly number[],
  now: Date,
): Start {
  const isItsTurn =
    delivery?.status === 'pending' &&
    delivery.series === job.series &&
    delivery.attempts === job.number - 1
  if (!isItsTurn) return 'drop'
  if (delivery.endpoint.status === 'disabled') return 'give-up'
  if (job.series > 0 || job.number > 1) return 'attempt'
  // An event is published without knowing the schedule, so its first wait is made good for here.
  const waitSeconds = firstWaitSeconds - (now.getTime() - delivery.createdAt.getTime()) / 1_000
  return waitSeconds > 0 ? { waitSeconds } : 'attempt'
}
