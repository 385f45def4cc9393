/** The rate of deliveries that an endpoint's owner asks for. */
export type RateLimit = {
  perSecond: number
  /** The most at once after a quiet time. */
  burst: number
}

export const maxRate = 1_000

/** Which of the wanted deliveries are within the limit. */
export type Grant = {
  /** Seconds from now until each granted delivery, ascending. */
  waitsSeconds: readonly number[]
  /** To be passed to the next call. */
  nextAt: Date
}

/**
 * Grants deliveries within a rate limit, by the generic cell rate algorithm.
 * @param nextAt of the previous call; null at first
 * @param aheadMs also grants deliveries that become due within this time
 */
export function grantDeliveries(
  { perSecond, burst }: RateLimit,
  nextAt: Date | null,
  { wanted, aheadMs }: { wanted: number; aheadMs: number },
  now: Date,
): Grant {
  const nowMs = now.getTime()
  const intervalMs = 1_000 / perSecond
  const burstMs = (burst - 1) * intervalMs
  const waitsSeconds: number[] = []
  let nextMs = Math.max(nextAt?.getTime() ?? 0, nowMs)
  while (waitsSeconds.length < wanted && nextMs - burstMs <= nowMs + aheadMs) {
    waitsSeconds.push(Math.max(0, nextMs - burstMs - nowMs) / 1_000)
    nextMs += intervalMs
  }
  return { waitsSeconds, nextAt: new Date(Math.ceil(nextMs)) }
}
