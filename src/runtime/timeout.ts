import { setTimeout as wait } from 'node:timers/promises'

/**
 * The result of `work`, or null after `ms`; `work` is not cancelled. Its error is thrown if it
 * comes in time.
 */
export async function resultWithin<T>(ms: number, work: Promise<T>): Promise<T | null> {
  const timer = new AbortController()
  const timedOut = wait(ms, null, { signal: timer.signal }).catch(() => null)
  try {
    return await Promise.race([work, timedOut])
  } finally {
    timer.abort()
  }
}

/**
 * True if `work` resolves within `ms`; it is not cancelled. Its error is thrown if it comes in
 * time.
 */
export async function endsWithin(ms: number, work: Promise<unknown> | undefined): Promise<boolean> {
  const ended = Promise.resolve(work).then(() => true)
  return (await resultWithin(ms, ended)) ?? false
}
