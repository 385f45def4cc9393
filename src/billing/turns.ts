/** Runs work of one key one after another, work of different keys in parallel. */
export type Turns = <T>(key: string, work: () => Promise<T>) => Promise<T>

/** Turns within this process; nothing is remembered of a key that nobody waits for. */
export function createTurns(): Turns {
  const tails = new Map<string, Promise<unknown>>()
  return async function takeTurn(key, work) {
    const turn = (tails.get(key) ?? Promise.resolve()).then(work)
    // Whoever comes next waits for the end of this, well or not.
    const tail = turn.then(ignore, ignore)
    tails.set(key, tail)
    try {
      return await turn
    } finally {
      await tail
      if (tails.get(key) === tail) tails.delete(key)
    }
  }
}

function ignore(): void {}
