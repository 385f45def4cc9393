/** The state of an endpoint that the outcomes of its deliveries change. */
export type EndpointState = {
  status: 'active' | 'failing' | 'disabled'
  lastSuccessAt: Date | null
  /** When a delivery was exhausted with no success since; null while active. */
  failingSince: Date | null
  /** Deliveries exhausted since `failingSince`; without a meaning while that is null. */
  exhaustedDeliveries: number
}

const alertKinds = ['endpoint.failing', 'endpoint.disabled', 'endpoint.recovered'] as const
export type AlertKind = (typeof alertKinds)[number]

export function isAlertKind(text: string): text is AlertKind {
  return alertKinds.some((kind) => kind === text)
}

export type HealthDecision = {
  state: EndpointState & { disabledAt: Date | null }
  /** The alert to send to the owners. */
  alert: AlertKind | null
}

// Contract 7: failing for five days without a single success, with ten exhausted deliveries since.
const disableAfterMs = 5 * 86_400_000
const disableAfterExhausted = 10

/**
 * Decides the state of an endpoint after one of its deliveries has ended (contract 7). A disabled
 * endpoint stays disabled until it is enabled. The time counts from the first exhausted delivery and
 * not from the last success, so that a quiet endpoint is not disabled after an hour of trouble.
 * @returns null if nothing changes
 */
export function decideHealth(
  state: EndpointState,
  outcome: 'succeeded' | 'exhausted',
  now: Date,
): HealthDecision | null {
  if (state.status === 'disabled') return null
  if (outcome === 'succeeded') {
    return {
      state: {
        ...state,
        status: 'active',
        lastSuccessAt: now,
        failingSince: null,
        exhaustedDeliveries: 0,
        disabledAt: null,
      },
      alert: state.status === 'failing' ? 'endpoint.recovered' : null,
    }
  }
  const failingSince = state.failingSince ?? now
  const exhaustedDeliveries = state.failingSince === null ? 1 : state.exhaustedDeliveries + 1
  const failing = { ...state, failingSince, exhaustedDeliveries }
  const failingMs = now.getTime() - failingSince.getTime()
  return failingMs >= disableAfterMs && exhaustedDeliveries >= disableAfterExhausted
    ? {
        state: { ...failing, status: 'disabled', disabledAt: now },
        alert: 'endpoint.disabled',
      }
    : {
        state: { ...failing, status: 'failing', disabledAt: null },
        alert: 'endpoint.failing',
      }
}

const successEveryMs = 60_000

/** Whether an outcome changes the stored state. A success is stored at most once a minute. */
export function affectsHealth(
  { status, lastSuccessAt }: Pick<EndpointState, 'status' | 'lastSuccessAt'>,
  outcome: 'succeeded' | 'exhausted',
  now: Date,
): boolean {
  if (outcome === 'exhausted' || status !== 'active' || lastSuccessAt === null) return true
  return now.getTime() - lastSuccessAt.getTime() >= successEveryMs
}
