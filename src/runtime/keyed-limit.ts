/** Counts what is in progress for each key, in this process. */
export function createKeyedCounts() {
  const counts = new Map<string, number>()
  const count = (key: string) => counts.get(key) ?? 0

  function change(keys: Iterable<string>, by: 1 | -1): void {
    for (const key of keys) {
      const changed = count(key) + by
      if (changed === 0) counts.delete(key)
      else counts.set(key, changed)
    }
  }

  return {
    count,
    add: (keys: Iterable<string>) => change(keys, 1),
    remove: (keys: Iterable<string>) => change(keys, -1),
  }
}

/** Limits what is in progress for each key. */
export type KeyedLimit = {
  /** Adds one for every key. @returns null, or a key without room, and then nothing was added */
  enter(keys: Iterable<string>): string | null
  /** Takes away what `enter` has added. */
  leave(keys: Iterable<string>): void
}

/** @param max of one key, in this process */
export function createKeyedLimit(max: number): KeyedLimit {
  const { count, add, remove } = createKeyedCounts()
  return {
    enter(keys) {
      for (const key of keys) if (count(key) >= max) return key
      add(keys)
      return null
    },
    leave: remove,
  }
}
