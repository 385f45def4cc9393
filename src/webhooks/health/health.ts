import { explainFailure } from '#src/webhooks/client/explain.ts'
import { drainRate } from './recovery.ts'
import type { EndpointState } from './state.ts'

export const healthStates = [
  'healthy',
  'retrying',
  'failing',
  'recovering',
  'disabled',
  'paused',
] as const

/** What an endpoint's `status` does not say. */
export type Health = {
  /**
   * `retrying`: the latest attempt failed, and no delivery is exhausted yet. `failing` and `disabled`
   * are the values of `status`, and so is `paused`. `recovering`: it accepts deliveries again, and those that failed in the
   * outage are being sent, slowly at first.
   */
  state: (typeof healthStates)[number]
  /** Since when it has been in this state: RFC 3339 in UTC. */
  since: string
  /** Why, and what to do, in words for the customer; null if it is healthy. */
  reason: string | null
}

/** The facts about an endpoint from which its health is derived. */
export type HealthFacts = Pick<
  EndpointState,
  | 'status'
  | 'healthySince'
  | 'retryingSince'
  | 'failingSince'
  | 'failureStatus'
  | 'failureCause'
  | 'lastSuccessAt'
  | 'recoveringSince'
  | 'recoveryStep'
> & {
  enabledAt: Date
  disabledAt: Date | null
  secretRotatedAt: Date | null
  paused: 'hold' | 'drop' | null
  pausedAt: Date | null
}

/** The health of an endpoint. */
export function describeHealth(facts: HealthFacts): Health {
  const { status, enabledAt, healthySince, retryingSince, failingSince, disabledAt } = facts
  const { recoveringSince, recoveryStep, paused, pausedAt } = facts
  if (paused !== null && pausedAt !== null) {
    return { state: 'paused', since: pausedAt.toISOString(), reason: pausedReasons[paused] }
  }
  if (status === 'disabled') return { state: status, ...sinceAndWhy(facts, disabledAt) }
  if (status === 'failing') return { state: status, ...sinceAndWhy(facts, failingSince) }
  if (recoveringSince !== null) {
    const reason = `${recovering} At present ${drainRate(recoveryStep)} a second.`
    return { state: 'recovering', since: recoveringSince.toISOString(), reason }
  }
  if (retryingSince !== null) return { state: 'retrying', ...sinceAndWhy(facts, retryingSince) }
  const since = healthySince !== null && healthySince > enabledAt ? healthySince : enabledAt
  return { state: 'healthy', since: since.toISOString(), reason: null }
}

function sinceAndWhy(facts: HealthFacts, since: Date | null): Omit<Health, 'state'> {
  return { since: (since ?? facts.enabledAt).toISOString(), reason: reasonFor(facts) }
}

const pausedReasons = {
  hold: 'It was paused by hand. Its deliveries wait and are sent when it is resumed.',
  drop: 'It was paused by hand. Nothing waits: replay what it missed when it is resumed.',
} as const

const recovering =
  'It accepts deliveries again. Those that failed are sent again, more with each success.'

const general = {
  active: 'The latest attempt failed.',
  failing: 'All attempts of a delivery have failed.',
  disabled: 'It was disabled because it had failed for five days.',
} as const

/** The reason in words; the general sentence if no failure is recorded. */
function reasonFor(facts: HealthFacts): string {
  const { status, failureStatus: statusCode, failureCause: cause } = facts
  if (statusCode === null && cause === null) return general[status]
  const explanation = explainFailure({ ...facts, statusCode, cause }, 'customer')
  return status === 'disabled' ? `${general.disabled} ${explanation}` : explanation
}
