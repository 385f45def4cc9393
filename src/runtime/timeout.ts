import { setTimeout as wait } from 'node:timers/promises'

/** Whether `work` ends in so many milliseconds; an error of it that comes in time is thrown. */
export async function endsWithin(ms: number, work: Promise<unknown> | undefined): Promise<boolean> {
  const inTime = new AbortController()
  const late = wait(ms, false, { signal: inTime.signal }).catch(() => false)
  try {
    return await Promise.race([Promise.resolve(work).then(() => true), late])
  } finally {
    inTime.abort()
  }
}

/** What takes a while to make and may never be needed: made at the first call, then kept. */
export function onFirstUse<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
