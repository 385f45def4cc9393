/** Counts what is in progress for each key. */
export type KeyedLimit = {
  /** Adds one for every key. @returns null, or a key without room, and then nothing was added */
  enter(keys: Iterable<string>): string | null
  /** Takes away what `enter` has added. */
  leave(keys: Iterable<string>): void
}

/** @param max of one key, in this process */
export function createKeyedLimit(max: number): KeyedLimit {
  const counts = new Map<string, number>()

  function add(key: string, change: 1 | -1): void {
    const count = (counts.get(key) ?? 0) + change
    if (count === 0) counts.delete(key)
    else counts.set(key, count)
  }

  return {
    enter(keys) {
      for (const key of keys) if ((counts.get(key) ?? 0) >= max) return key
      for (const key of keys) add(key, 1)
      return null
    },
    leave(keys) {
      for (const key of keys) add(key, -1)
    },
  }
}
