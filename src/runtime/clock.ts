/** The program's time. Times in the database are set and compared by the database itself. */
export type Clock = { now(): Date }

export const systemClock: Clock = { now: () => new Date() }

/** A clock that runs from `start` onwards (setting `GATEHOUSE_NOW`). */
export function clockStartingAt(start: Date): Clock {
  const offsetMs = start.getTime() - Date.now()
  return { now: () => new Date(Date.now() + offsetMs) }
}

/** The current time in whole Unix seconds. */
export function unixSeconds(clock: Clock): number {
  return Math.floor(clock.now().getTime() / 1000)
}
