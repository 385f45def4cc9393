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
  /** Deliveries with a failed attempt and a further one to come, of the `countedDue` that are due first. */
  retrying: number
}

/** Due attempts of an endpoint that are counted at most: the work does not grow with its backlog. */
export const countedDue = 1_000

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
  retrying: number
}

/** What the state of an endpoint depends on. */
export type StateFacts = Pick<HealthFacts, 'status'> & {
  isPaused: boolean
  isRecovering: boolean
  isRetrying: boolean
}

/** The state of an endpoint's health. */
export function healthStateOf(facts: StateFacts): Health['state'] {
  if (facts.isPaused) return 'paused'
  if (facts.status !== 'active') return facts.status
  if (facts.isRecovering) return 'recovering'
  return facts.isRetrying ? 'retrying' : 'healthy'
}

/** The health of an endpoint. */
export function describeHealth(facts: HealthFacts): Health {
  const { status, paused, recoveringSince, retryingSince, retrying } = facts
  const state = healthStateOf({
    status,
    isPaused: paused !== null,
    isRecovering: recoveringSince !== null,
    isRetrying: retryingSince !== null,
  })
  return { state, ...sinceAndWhy(facts, state), retrying }
}

function sinceAndWhy(facts: HealthFacts, state: Health['state']): Pick<Health, 'since' | 'reason'> {
  const { enabledAt, healthySince, paused } = facts
  const since = (at: Date | null) => (at ?? enabledAt).toISOString()
  switch (state) {
    case 'paused':
      return { since: since(facts.pausedAt), reason: paused && pausedReasons[paused] }
    case 'disabled':
      return { since: since(facts.disabledAt), reason: reasonFor(facts) }
    case 'failing':
      return { since: since(facts.failingSince), reason: reasonFor(facts) }
    case 'recovering': {
      const reason = `${recovering} At present ${drainRate(facts.recoveryStep)} a second.`
      return { since: since(facts.recoveringSince), reason }
    }
    case 'retrying':
      return { since: since(facts.retryingSince), reason: reasonFor(facts) }
    case 'healthy': {
      const isLater = healthySince !== null && healthySince > enabledAt
      return { since: since(isLater ? healthySince : enabledAt), reason: null }
    }
  }
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
