import { EventEmitter, once } from 'node:events'

/** When something that should never stop for long has happened. */
export type Timeline = {
  note(): void
  /** Resolves after it has happened that many more times. */
  more(count: number): Promise<void>
  /** The longest time without it since then, in ms; up to now. */
  longestSince(begun: number): number
}

export function createTimeline(): Timeline {
  const times: number[] = []
  const events = new EventEmitter()
  return {
    note() {
      times.push(performance.now())
      events.emit('noted')
    },
    async more(count) {
      const goal = times.length + count
      while (times.length < goal) await once(events, 'noted')
    },
    longestSince(begun) {
      const all = [...times.filter((time) => time > begun), performance.now()]
      return all.reduce(
        ({ longest, last }, time) => ({ longest: Math.max(longest, time - last), last: time }),
        { longest: 0, last: begun },
      ).longest
    },
  }
}
