/** Wakes one who waits. Rung while nobody does, it keeps the ring for whoever waits next. */
export type Bell = {
  ring(): void
  /** Resolves when it rings, or after `ms`. */
  wait(ms: number): Promise<void>
}

export function createBell(): Bell {
  let isRung = false
  let wake: (() => void) | null = null
  return {
    ring() {
      isRung = true
      wake?.()
    },
    async wait(ms) {
      if (!isRung) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const timer = setTimeout(resolve, ms)
        wake = resolve
        await promise
        clearTimeout(timer)
        wake = null
      }
      isRung = false
    },
  }
}
