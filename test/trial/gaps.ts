/** When something that should never stop for long has happened. */
export type Timeline = {
  note(): void
  /** The longest time without it since then, in ms; up to now. */
  longestSince(begun: number): number
}

export function createTimeline(): Timeline {
  const times: number[] = []
  return {
    note() {
      times.push(performance.now())
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
