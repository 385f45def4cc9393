/** What an endpoint's past says of it. */
export type EndpointState = {
  status: 'active' | 'failing' | 'disabled'
  /** The start of its present life: created, or enabled again. */
  enabledAt: Date
  lastSuccessAt: Date | null
  failingSince: Date | null
}

const alertKinds = ['endpoint.failing', 'endpoint.disabled', 'endpoint.recovered'] as const
export type AlertKind = (typeof alertKinds)[number]

export function isAlertKind(text: string): text is AlertKind {
  return alertKinds.some((kind) => kind === text)
}

export type Judgement = {
  state: EndpointState & { disabledAt: Date | null }
  /** What its owners are told. */
  alert: AlertKind | null
}

const deadAfterMs = 5 * 86_400_000 // contract 7: without a single success for 5 days
const deadAfterDeliveries = 10 // and so many exhausted deliveries at least

/**
 * What the end of a delivery says of its endpoint (contract 7). One that is disabled stays so
 * until somebody enables it.
 * @param exhausted deliveries since `unwellSince`, counted to `deadAfterDeliveries`
 */
export function judgeEndpoint(
  state: EndpointState,
  ended: 'succeeded' | 'exhausted',
  exhausted: number,
  now: Date,
): Judgement | null {
  if (state.status === 'disabled') return null
  if (ended === 'succeeded') {
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
  const isDead =
    now.getTime() - unwellSince(state).getTime() >= deadAfterMs && exhausted >= deadAfterDeliveries
  return isDead
    ? {
        state: { ...state, status: 'disabled', failingSince, disabledAt: now },
        alert: 'endpoint.disabled',
      }
    : {
        state: { ...state, status: 'failing', failingSince, disabledAt: null },
        alert: 'endpoint.failing',
      }
}

/** Since when nothing has gone well; what was exhausted before counts no more. */
export function unwellSince({ enabledAt, lastSuccessAt }: EndpointState): Date {
  return lastSuccessAt !== null && lastSuccessAt > enabledAt ? lastSuccessAt : enabledAt
}

const noteAfterMs = 60_000

/** Whether this end changes what is known of the endpoint; a success is noted to the minute. */
export function isWorthNoting(
  { status, lastSuccessAt }: Pick<EndpointState, 'status' | 'lastSuccessAt'>,
  ended: 'succeeded' | 'exhausted',
  now: Date,
): boolean {
  if (ended === 'exhausted' || status !== 'active' || lastSuccessAt === null) return true
  return now.getTime() - lastSuccessAt.getTime() >= noteAfterMs
}
