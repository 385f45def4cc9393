/** The longest range of time that is replayed at once, in days: as long as deliveries are kept. */
export const maxRangeDays = 90

const dayMs = 86_400_000

/** Whether `to` is after `from`, by so many days at most; times that are none are no range. */
export function isReplayRange(from: Date, to: Date): boolean {
  const length = to.getTime() - from.getTime()
  return length > 0 && length <= maxRangeDays * dayMs
}
