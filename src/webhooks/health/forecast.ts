/** A warning that an endpoint is about to fail. */
export type Forecast = {
  kind: 'certificate'
  /** When it was first noticed: RFC 3339 in UTC. */
  since: string
  /** For the customer, in words. Does not change while the warning holds. */
  message: string
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Days before a certificate expires at which its owner is warned, the last one first. */
const warningDays = [3, 14]

/**
 * The warning that holds now; null if there is none. A certificate is a new warning when it comes closer
 * to its end.
 * @param expiresAt of the certificate in the latest handshake
 * @param before the warnings that held so far: one that still holds keeps its time
 */
export function forecast(expiresAt: Date, before: readonly Forecast[], now: Date): Forecast | null {
  const days = (expiresAt.getTime() - now.getTime()) / dayMs
  const stage = warningDays.find((limit) => days <= limit)
  if (stage === undefined || days <= 0) return null
  const date = expiresAt.toISOString().slice(0, 16).replace('T', ' ')
  const message = `Its certificate expires in less than ${stage} days, at ${date} UTC. Renew it before, or deliveries fail.`
  const since = now.toISOString()
  return before.find((one) => one.message === message) ?? { kind: 'certificate', since, message }
}

/** Whether the owner of a certificate that expires then is warned at that time. */
export function isWarned(expiresAt: Date, at: Date): boolean {
  return expiresAt.getTime() - at.getTime() <= Math.max(...warningDays) * dayMs
}

/** The next look: every hour, because it may be renewed, and when it comes closer to its end. */
export function nextForecastAt(expiresAt: Date, now: Date): Date {
  const times = warningDays.map((days) => expiresAt.getTime() - days * dayMs)
  return new Date(Math.min(now.getTime() + hourMs, ...times.filter((at) => at > now.getTime())))
}
