/** A time limit that began. */
export type Deadline = { readonly passesAt: number; readonly onPassed: () => void }

export type Deadlines = {
  /** @param onPassed called once it has passed, unless it was ended before */
  begin(onPassed: () => void): Deadline
  end(deadline: Deadline): void
}

/**
 * Time limits of one length, of which almost none passes. They share a timer: one for each would be armed and
 * cleared for every query. As a timer does, a limit that has not ended keeps the process running.
 * @param ms length of each
 */
export function createDeadlines(ms: number): Deadlines {
  // In the order in which they pass.
  const pending = new Set<Deadline>()
  let timer: NodeJS.Timeout | undefined

  function look(): void {
    const now = performance.now()
    for (const deadline of pending) {
      const { passesAt, onPassed } = deadline
      if (passesAt > now) {
        timer = setTimeout(look, Math.ceil(passesAt - now))
        return
      }
      pending.delete(deadline)
      onPassed()
    }
    timer = undefined
  }

  return {
    begin(onPassed) {
      const deadline = { passesAt: performance.now() + ms, onPassed }
      if (timer === undefined) timer = setTimeout(look, ms)
      else if (pending.size === 0) timer.ref()
      pending.add(deadline)
      return deadline
    },
    end(deadline) {
      pending.delete(deadline)
      if (pending.size === 0) timer?.unref()
    },
  }
}
