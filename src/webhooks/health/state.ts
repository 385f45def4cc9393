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
  /** When a delivery was exhausted with no success since; null while active. */
  failingSince: Date | null
  /** Deliveries exhausted since `failingSince`; without a meaning while that is null. */
  exhaustedDeliveries: number
}

/** How an attempt failed, as in `SendResult`. One of the two is set. */
export type Failure = { statusCode: number | null; cause: string | null }

/** `exhausted`: the attempt failed, and it was the last one of its delivery. */
export type AttemptOutcome = { kind: 'succeeded' } | ({ kind: 'failed' | 'exhausted' } & Failure)

const alertKinds = ['endpoint.failing', 'endpoint.disabled', 'endpoint.recovered'] as const
export type AlertKind = (typeof alertKinds)[number]

export function isAlertKind(text: string): text is AlertKind {
  return alertKinds.some((kind) => kind === text)
}

export type StateChange = {
  state: EndpointState & { disabledAt: Date | null }
  /** The alert to send to the owners. */
  alert: AlertKind | null
}

// Contract 7: failing for five days without a single success, with ten exhausted deliveries since.
const disableAfterMs = 5 * 86_400_000
const disableAfterExhausted = 10

/**
 * Decides the state of an endpoint after an attempt (contract 7). A disabled endpoint stays disabled
 * until it is enabled. The time counts from the first exhausted delivery and not from the last success,
 * so that a quiet endpoint is not disabled after an hour of trouble.
 * @returns null if nothing changes
 */
export function changeState(
  state: EndpointState,
  outcome: AttemptOutcome,
  now: Date,
): StateChange | null {
  if (state.status === 'disabled') return null
  if (outcome.kind === 'succeeded') return afterSuccess(state, now)
  const failed = {
    ...state,
    retryingSince: state.retryingSince ?? now,
    failureStatus: outcome.statusCode,
    failureCause: outcome.cause,
    disabledAt: null,
  }
  if (outcome.kind === 'failed') return { state: failed, alert: null }
  const failingSince = state.failingSince ?? now
  const exhaustedDeliveries = state.failingSince === null ? 1 : state.exhaustedDeliveries + 1
  const failing = { ...failed, failingSince, exhaustedDeliveries }
  const failingMs = now.getTime() - failingSince.getTime()
  return failingMs >= disableAfterMs && exhaustedDeliveries >= disableAfterExhausted
    ? {
        state: { ...failing, status: 'disabled', disabledAt: now },
        alert: 'endpoint.disabled',
      }
    : { state: { ...failing, status: 'failing' }, alert: 'endpoint.failing' }
}

function afterSuccess(state: EndpointState, now: Date): StateChange {
  const wasHealthy = state.status === 'active' && state.retryingSince === null
  return {
    state: {
      status: 'active',
      lastSuccessAt: now,
      healthySince: wasHealthy ? state.healthySince : now,
      retryingSince: null,
      failureStatus: null,
      failureCause: null,
      failingSince: null,
      exhaustedDeliveries: 0,
      disabledAt: null,
    },
    alert: state.status === 'failing' ? 'endpoint.recovered' : null,
  }
}

/** The part of the state that an attempt reads before it is made. */
export type LatestState = Pick<
  EndpointState,
  'status' | 'lastSuccessAt' | 'retryingSince' | 'failureStatus' | 'failureCause'
>

const successEveryMs = 60_000

/**
 * Whether an outcome changes the stored state, so that most attempts need not write it: a success is
 * stored at most once a minute, a failed attempt if it is the first one or fails in another way.
 */
export function affectsState(state: LatestState, outcome: AttemptOutcome, now: Date): boolean {
  const { status, lastSuccessAt, retryingSince } = state
  if (outcome.kind === 'exhausted') return true
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
