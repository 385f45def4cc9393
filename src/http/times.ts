const firstMs = Date.parse('0001-01-01T00:00:00.000Z')
const lastMs = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * True for a time in the years 1 to 9999 (UTC), which RFC 3339, a Date and PostgreSQL can all
 * represent. False for an invalid Date.
 */
export function isStorableTime(time: Date): boolean {
  const ms = time.getTime()
  return ms >= firstMs && ms <= lastMs
}

/** The first and the last time for which `isStorableTime` is true. */
export function storableTimes(): readonly [first: Date, last: Date] {
  return [new Date(firstMs), new Date(lastMs)]
}

// PostgreSQL accepts offsets below 16 hours; those in use are at most 14.
const farOffset = /[+-](1[6-9]|2\d)(:?\d\d)?$/

/**
 * True if a text of the format `date-time` is a time that a Date and PostgreSQL can represent. RFC
 * 3339 also allows leap seconds, the year 0, and offsets that lead beyond the year 9999.
 */
export function isStorableTimeText(text: string): boolean {
  return !text.startsWith('0000') && !farOffset.test(text) && isStorableTime(new Date(text))
}
