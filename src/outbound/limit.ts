/** Runs work, so many at once at most; the rest waits in the order it came. */
export type Limit = <T>(work: () => Promise<T>) => Promise<T>

export function createLimit(atOnce: number): Limit {
  const waiting: (() => void)[] = []
  let running = 0
  return async function run(work) {
    if (running < atOnce) running += 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      // Whoever comes next takes the place over.
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}
