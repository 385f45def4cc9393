/**
 * Seconds that a `Retry-After` header asks to wait: a number, or a date of HTTP, which is compared with the
 * `Date` of the same response because the clocks of two machines differ. May be negative; the caller sets the
 * limits.
 * @returns null for anything else
 */
export function readRetryAfter(value: unknown, date: unknown): number | null {
  if (typeof value !== 'string') return null
  if (/^[0-9]{1,9}$/.test(value)) return Number(value)
  if (!value.endsWith(' GMT')) return null
  const now = typeof date === 'string' ? Date.parse(date) : Number.NaN
  const until = Date.parse(value)
  return Number.isNaN(until) ? null : Math.ceil((until - (now || Date.now())) / 1_000)
}
