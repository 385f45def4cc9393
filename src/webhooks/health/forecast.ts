export const forecastKinds = ['certificate', 'response-time', 'success-rate'] as const
export type ForecastKind = (typeof forecastKinds)[number]

/** A warning that an endpoint is about to fail. */
export type Forecast = {
  kind: ForecastKind
  /** When it was first noticed: RFC 3339 in UTC. */
  since: string
  /** For the customer, in words. Does not change while the warning holds. */
  message: string
}

/** Attempts in a time span. `slowMs`: 19 of 20 responses took less. */
export type Sample = { attempts: number; succeeded: number; slowMs: number | null }

export type ForecastFacts = {
  status: string
  /** Of the certificate in the latest handshake; null if there was none. */
  certificateExpiresAt: Date | null
  timeoutMs: number
  /** In the last six hours, and in the eighteen hours before. */
  recent: Sample
  before: Sample
}

export const recentHours = 6
export const beforeHours = 24
const dayMs = 86_400_000

/** Days before a certificate expires at which its owner is warned, the last one first. */
export const certificateDays = [3, 14]

const fewestAttempts = 20
const slowShare = 0.7
const wellShare = 0.9
const fallShare = 0.1

/** What is to be expected of an endpoint. Of a kind there is at most one. */
export function forecast(facts: ForecastFacts, now: Date): Forecast[] {
  const since = now.toISOString()
  const found = [
    { kind: 'certificate', message: certificateWarning(facts, now) },
    { kind: 'response-time', message: slowWarning(facts) },
    { kind: 'success-rate', message: rateWarning(facts) },
  ] as const
  return found.flatMap(({ kind, message }) => (message === null ? [] : [{ kind, since, message }]))
}

function certificateWarning({ certificateExpiresAt }: ForecastFacts, now: Date): string | null {
  if (certificateExpiresAt === null) return null
  const days = (certificateExpiresAt.getTime() - now.getTime()) / dayMs
  const stage = certificateDays.find((limit) => days <= limit)
  if (stage === undefined || days <= 0) return null
  const date = certificateExpiresAt.toISOString().slice(0, 16).replace('T', ' ')
  return `Its certificate expires in less than ${stage} days, at ${date} UTC. Renew it before, or deliveries fail.`
}

/** An endpoint that fails already is explained by its health. */
function slowWarning({ status, recent, timeoutMs }: ForecastFacts): string | null {
  if (status !== 'active' || recent.attempts < fewestAttempts || recent.slowMs === null) return null
  if (recent.slowMs < slowShare * timeoutMs) return null
  return `One in 20 responses takes ${secondsText(recent.slowMs)} or more; after ${secondsText(timeoutMs)} an attempt fails. Respond as soon as the event is stored, and do slow work afterwards.`
}

function secondsText(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}

function rateWarning({ status, recent, before }: ForecastFacts): string | null {
  if (status !== 'active') return null
  if (recent.attempts < fewestAttempts || before.attempts < fewestAttempts) return null
  const [now, then] = [recent, before].map(({ attempts, succeeded }) => succeeded / attempts)
  if (now === undefined || then === undefined) return null
  if (then < wellShare || now > then - fallShare) return null
  return `${percent(now)} of the attempts succeeded in the last ${recentHours} hours, after ${percent(then)} in the ${beforeHours - recentHours} hours before.`
}

function percent(share: number): string {
  return `${Math.floor(share * 100)} %`
}

/**
 * The warnings that hold now. One that held before keeps its time and its words; a certificate is a new
 * warning when it comes closer to its end.
 * @returns `fresh`: those that its owners have to be told
 */
export function mergeForecasts(
  before: readonly Forecast[],
  now: readonly Forecast[],
): { forecasts: Forecast[]; fresh: Forecast[] } {
  const forecasts = now.map((one) => before.find((old) => isSame(old, one)) ?? one)
  return { forecasts, fresh: forecasts.filter((one) => !before.includes(one)) }
}

function isSame(a: Forecast, b: Forecast): boolean {
  return a.kind === b.kind && (a.kind !== 'certificate' || a.message === b.message)
}

const hourMs = 3_600_000

/** The next look: every hour, and when a certificate comes closer to its end. */
export function nextForecastAt({ certificateExpiresAt }: ForecastFacts, now: Date): Date {
  const times = certificateDays.flatMap((days) => {
    if (certificateExpiresAt === null) return []
    const at = certificateExpiresAt.getTime() - days * dayMs
    return at > now.getTime() ? [at] : []
  })
  return new Date(Math.min(now.getTime() + hourMs, ...times))
}
