import type { Clock } from '#src/runtime/clock.ts'

/** How much time slow checks may take: `burstMs` at once, and `msPerSecond` in the long run. */
export type SlowTimeLimit = { burstMs: number; msPerSecond: number }

/** The time that slow checks of each key have taken: a leaky bucket. */
export type SlowTime = {
  add(key: string, ms: number): void
  /** Seconds until there is room for another check; null if there is. */
  secondsUntilRoom(key: string): number | null
}

export function createSlowTime({ burstMs, msPerSecond }: SlowTimeLimit, clock: Clock): SlowTime {
  /** When each bucket is empty, in milliseconds. */
  const emptyAt = new Map<string, number>()
  const now = () => clock.now().getTime()

  return {
    add(key, ms) {
      for (const [other, at] of emptyAt) if (at <= now()) emptyAt.delete(other)
      const from = Math.max(now(), emptyAt.get(key) ?? 0)
      emptyAt.set(key, from + (ms / msPerSecond) * 1_000)
    },
    secondsUntilRoom(key) {
      const level = (((emptyAt.get(key) ?? 0) - now()) / 1_000) * msPerSecond
      return level < burstMs ? null : Math.ceil((level - burstMs + 1) / msPerSecond)
    },
  }
}
