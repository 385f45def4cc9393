import { type Failure, needsOwner, nextTrialAt, recoveredStep } from './recovery.ts'

/** The state of an endpoint that the outcomes of its attempts change. */
export type EndpointState = {
  status: 'active' | 'failing' | 'disabled'
  lastSuccessAt: Date | null
  /** The end of the latest period of failures. */
  healthySince: Date | null
  /** The first failed attempt with no success since. */
  retryingSince: Date | null
  /** How the latest of these attempts failed. */
  failureStatus: number | null
  failureCause: string | null
  /** When a delivery was exhausted, or its recovery failed, with no success since; null while active. */
  failingSince: Date | null
  /** Deliveries exhausted since `failingSince`; without a meaning while that is null. */
  exhaustedDeliveries: number
  disabledAt: Date | null
  /** When it first failed; null again once it has recovered. */
  outageSince: Date | null
  /** While the deliveries that failed in the outage are sent again, slowly at first. */
  recoveringSince: Date | null
  /** As in `drainRate`; 0 unless it is recovering. */
  recoveryStep: number
  /** The next trial delivery. */
  trialAt: Date | null
  /** Trials since `failingSince`. */
  trials: number
  /** The trial in progress. */
  trialDeliveryId: string | null
}

/**
 * `exhausted`: the attempt failed, and it was the last one of its delivery. `isTrial`: of a trial
 * delivery, which has one attempt and is not exhausted by it once more.
 */
export type AttemptOutcome =
  | { kind: 'succeeded'; isTrial: boolean }
  | ({ kind: 'failed' | 'exhausted'; isTrial: boolean } & Failure)

export const stateAlerts = [
  'endpoint.failing',
  'endpoint.disabled',
  'endpoint.recovering',
  'endpoint.recovered',
] as const
/** An alert to the owners of an endpoint about its state. */
export type StateAlert = (typeof stateAlerts)[number]

export type StateChange = {
  state: EndpointState
  /** The alert to send to the owners. */
  alert: StateAlert | null
  /** Whether to begin to send the deliveries that waited. */
  drains: boolean
}

/** `hasBacklog`: deliveries wait for the recovery of the endpoint. */
export type Moment = { now: Date; hasBacklog: boolean }

// Contract 7: failing for five days without a single success, with ten exhausted deliveries since.
const disableAfterMs = 5 * 86_400_000
const disableAfterExhausted = 10

/**
 * Decides the state of an endpoint after an attempt (contract 7). Only a trial changes a disabled one.
 * The time until it is disabled counts from the first exhausted delivery and not from the last success,
 * so that a quiet endpoint is not disabled after an hour of trouble.
 * @returns null if nothing changes
 */
export function changeState(
  state: EndpointState,
  outcome: AttemptOutcome,
  { now, hasBacklog }: Moment,
): StateChange | null {
  if (state.status === 'disabled' && !outcome.isTrial) return null
  if (outcome.kind === 'succeeded') return afterSuccess(state, { now, hasBacklog })
  const failed: EndpointState = {
    ...state,
    retryingSince: state.retryingSince ?? now,
    failureStatus: outcome.statusCode,
    failureCause: outcome.cause,
    ...(outcome.isTrial && { trialDeliveryId: null, trialAt: trialAtAfter(state, outcome, now) }),
  }
  if (outcome.kind === 'exhausted') return afterExhaustion(failed, outcome, now)
  // A tenant that publishes nothing more has no delivery that could be exhausted.
  if (state.status === 'failing' && hasFailedTooLong(state, now)) return disable(failed, now)
  const next = state.recoveringSince === null ? failed : stepBack(failed, outcome, now)
  return { state: next, alert: null, drains: false }
}

/** The next trial is planned when one starts. Its result can only put it off. */
function trialAtAfter({ trialAt, ...state }: EndpointState, failure: Failure, now: Date) {
  if (!needsOwner(failure)) return trialAt
  const { failingSince, trials } = state
  return nextTrialAt({ ...failure, failingSince: failingSince ?? now, trials }, now)
}

function afterSuccess(state: EndpointState, { now, hasBacklog }: Moment): StateChange {
  const { recoveringSince, healthySince, outageSince } = state
  const wasDown = state.status !== 'active'
  const wasHealthy = !wasDown && state.retryingSince === null && recoveringSince === null
  const well: EndpointState = {
    status: 'active',
    lastSuccessAt: now,
    healthySince: wasHealthy ? healthySince : now,
    retryingSince: null,
    failureStatus: null,
    failureCause: null,
    disabledAt: null,
    ...noOutage,
  }
  if (!wasDown && recoveringSince === null) return { state: well, alert: null, drains: false }
  const step = state.recoveryStep + 1
  if (!hasBacklog || step >= recoveredStep) {
    return { state: well, alert: 'endpoint.recovered', drains: hasBacklog }
  }
  return {
    state: {
      ...well,
      outageSince,
      recoveringSince: recoveringSince ?? now,
      recoveryStep: step,
    },
    alert: wasDown ? 'endpoint.recovering' : null,
    drains: wasDown,
  }
}

/** The part of the state of an endpoint that has neither failed nor to recover. */
export const noOutage = {
  failingSince: null,
  exhaustedDeliveries: 0,
  outageSince: null,
  recoveringSince: null,
  recoveryStep: 0,
  trialAt: null,
  trials: 0,
  trialDeliveryId: null,
} as const satisfies Partial<EndpointState>

/** One step back in its recovery; from the first step to failing. */
function stepBack(state: EndpointState, failure: Failure, now: Date): EndpointState {
  const recoveryStep = state.recoveryStep - 1
  if (recoveryStep > 0) return { ...state, recoveryStep }
  return { ...beginFailing(state, failure, now), exhaustedDeliveries: 0 }
}

function beginFailing(state: EndpointState, failure: Failure, now: Date): EndpointState {
  return {
    ...state,
    status: 'failing',
    failingSince: now,
    outageSince: state.outageSince ?? now,
    recoveringSince: null,
    recoveryStep: 0,
    trials: 0,
    trialAt: nextTrialAt({ ...failure, failingSince: now, trials: 0 }, now),
  }
}

function afterExhaustion(state: EndpointState, failure: Failure, now: Date): StateChange {
  const { failingSince, exhaustedDeliveries, trials } = state
  const failing =
    failingSince === null
      ? { ...beginFailing(state, failure, now), exhaustedDeliveries: 1 }
      : {
          ...state,
          exhaustedDeliveries: exhaustedDeliveries + 1,
          // Null after an upgrade.
          trialAt: state.trialAt ?? nextTrialAt({ ...failure, failingSince, trials }, now),
        }
  if (hasFailedTooLong(failing, now)) return disable(failing, now)
  return { state: { ...failing, status: 'failing' }, alert: 'endpoint.failing', drains: false }
}

function hasFailedTooLong({ failingSince, exhaustedDeliveries }: EndpointState, now: Date) {
  const failingMs = now.getTime() - (failingSince ?? now).getTime()
  return failingMs >= disableAfterMs && exhaustedDeliveries >= disableAfterExhausted
}

function disable(state: EndpointState, now: Date): StateChange {
  const disabled: EndpointState = { ...state, status: 'disabled', disabledAt: now }
  return { state: disabled, alert: 'endpoint.disabled', drains: false }
}

/** The part of the state that an attempt reads before it is made. */
export type LatestState = Pick<
  EndpointState,
  | 'status'
  | 'lastSuccessAt'
  | 'retryingSince'
  | 'failureStatus'
  | 'failureCause'
  | 'recoveringSince'
>

const successEveryMs = 60_000

/**
 * Whether an outcome changes the stored state, so that most attempts need not write it: a success is
 * stored at most once a minute, a failed attempt if it is the first one or fails in another way.
 */
export function affectsState(state: LatestState, outcome: AttemptOutcome, now: Date): boolean {
  const { status, lastSuccessAt, retryingSince, recoveringSince } = state
  if (outcome.kind === 'exhausted' || outcome.isTrial || recoveringSince !== null) return true
  if (outcome.kind === 'failed') return retryingSince === null || !isSameFailure(state, outcome)
  if (status !== 'active' || retryingSince !== null || lastSuccessAt === null) return true
  return now.getTime() - lastSuccessAt.getTime() >= successEveryMs
}

/** The detail of a cause, such as an address, does not count. */
function isSameFailure(
  { failureStatus, failureCause }: LatestState,
  { statusCode, cause }: Failure,
): boolean {
  return failureStatus === statusCode && codeOf(failureCause) === codeOf(cause)
}

function codeOf(cause: string | null): string | undefined {
  return cause?.split(':', 1)[0]
}
