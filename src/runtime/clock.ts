/** The only source of the program's time; database time is judged by the database. */
export type Clock = { now(): Date }

export const systemClock: Clock = { now: () => new Date() }

/** A clock that starts at `start` and runs on from there (setting `GATEHOUSE_NOW`). */
export function clockStartingAt(start: Date): Clock {
  const offsetMs = start.getTime() - Date.now()
  return { now: () => new Date(Date.now() + offsetMs) }
}

/** Whole Unix seconds of the clock. */
export function unixSeconds(clock: Clock): number {
  return Math.floor(clock.now().getTime() / 1000)
}
