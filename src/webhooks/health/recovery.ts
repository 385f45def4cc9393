/** How an attempt failed, as in `SendResult`. One of the two is set. */
export type Failure = { statusCode: number | null; cause: string | null }

const minuteMs = 60_000
const dayMs = 86_400_000

/** A trial follows after each of these minutes of failing, then every six hours. */
const firstTrialsMinutes = [1, 5, 15, 60]
const furtherTrialsMs = 6 * 3_600_000

/**
 * When a failing endpoint gets its next trial delivery.
 * @param trials trials so far since `failingSince`
 * @param failure the latest one
 * @param now the time of the latest trial, or of the failure
 */
export function nextTrialAt(
  { failingSince, trials, ...failure }: Failure & { failingSince: Date; trials: number },
  now: Date,
): Date {
  if (trials > 0 && needsOwner(failure)) return new Date(now.getTime() + dayMs)
  const minutes = firstTrialsMinutes[trials]
  if (minutes === undefined) return new Date(now.getTime() + furtherTrialsMs)
  // Trials that were missed while no worker ran do not follow at once.
  const earliest = now.getTime() + minuteMs
  return new Date(Math.max(failingSince.getTime() + minutes * minuteMs, earliest))
}

const idleMs = 15 * minuteMs

/** When to look again after a skipped trial: nothing waits, or a trial is in progress. */
export function nextLookAt(status: 'failing' | 'disabled', now: Date): Date {
  return new Date(now.getTime() + (status === 'disabled' ? furtherTrialsMs : idleMs))
}

const refusals: readonly (number | null)[] = [401, 403, 404, 410]

/** A failure that does not pass by itself: trying often would only be a nuisance. */
export function needsOwner({ statusCode, cause }: Failure): boolean {
  return refusals.includes(statusCode) || cause?.startsWith('tls-name:') === true
}

/** A recovering endpoint has recovered after this number of successes in a row. */
export const recoveredStep = 5

/**
 * Deliveries per second that a recovering endpoint gets of those that waited.
 * @param step 1 after the first success, one more for each further one, one less for each failure
 */
export function drainRate(step: number): number {
  return 2 ** (step - 1)
}
