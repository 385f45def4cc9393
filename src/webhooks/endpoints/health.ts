/** The state of an endpoint that the outcomes of its deliveries change. */
export type EndpointState = {
  status: 'active' | 'failing' | 'disabled'
  /** When it was created, or last enabled again. */
  enabledAt: Date
  lastSuccessAt: Date | null
  failingSince: Date | null
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

const disableAfterMs = 5 * 86_400_000 // contract 7: five days without a single success
/** And at least this many exhausted deliveries. */
export const disableAfterExhausted = 10

/**
 * Decides the state of an endpoint after one of its deliveries has ended (contract 7). A disabled
 * endpoint stays disabled until it is enabled.
 * @param exhausted deliveries exhausted since `failuresCountFrom`, counted up to
 *   `disableAfterExhausted`
 * @returns null if nothing changes
 */
export function decideHealth(
  state: EndpointState,
  outcome: 'succeeded' | 'exhausted',
  exhausted: number,
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
        disabledAt: null,
      },
      alert: state.status === 'failing' ? 'endpoint.recovered' : null,
    }
  }
  const failingSince = state.failingSince ?? now
  const failingMs = now.getTime() - failuresCountFrom(state).getTime()
  return failingMs >= disableAfterMs && exhausted >= disableAfterExhausted
    ? {
        state: { ...state, status: 'disabled', failingSince, disabledAt: now },
        alert: 'endpoint.disabled',
      }
    : {
        state: { ...state, status: 'failing', failingSince, disabledAt: null },
        alert: 'endpoint.failing',
      }
}

/** The last success, or when the endpoint was enabled if that is later. Earlier failures no longer count. */
export function failuresCountFrom({ enabledAt, lastSuccessAt }: EndpointState): Date {
  return lastSuccessAt !== null && lastSuccessAt > enabledAt ? lastSuccessAt : enabledAt
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
