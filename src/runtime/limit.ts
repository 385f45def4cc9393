/** Runs at most a fixed number of calls at once; the others wait in order. */
export type Limit = <T>(work: () => Promise<T>) => Promise<T>

export function createLimit(maxRunning: number): Limit {
  const waiting: (() => void)[] = []
  let running = 0
  return async function run(work) {
    if (running < maxRunning) running += 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      // The next call takes over this one's place, so `running` stays the same.
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}
