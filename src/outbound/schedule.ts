/** What becomes of a delivery: `wait` is for the next attempt, counted from the end of this one. */
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
