import t from 'tap'
import {
  type AttemptOutcome,
  affectsState,
  changeState,
  type EndpointState,
} from '#src/webhooks/health/state.ts'

const day = 86_400_000
const now = new Date('2026-03-10T10:00:00Z')
const alone = { now, hasBacklog: false }
const ago = (ms: number) => new Date(now.getTime() - ms)
const succeeded: AttemptOutcome = { kind: 'succeeded', isTrial: false }
const failed: AttemptOutcome = { kind: 'failed', isTrial: false, statusCode: 503, cause: null }
const exhausted: AttemptOutcome = {
  kind: 'exhausted',
  isTrial: false,
  statusCode: 503,
  cause: null,
}
const active: EndpointState = {
  status: 'active',
  lastSuccessAt: ago(day),
  healthySince: ago(30 * day),
  retryingSince: null,
  failureStatus: null,
  failureCause: null,
  failingSince: null,
  exhaustedDeliveries: 0,
  disabledAt: null,
  outageSince: null,
  recoveringSince: null,
  recoveryStep: 0,
  trialAt: null,
  trials: 0,
  trialDeliveryId: null,
}
const retrying: EndpointState = { ...active, retryingSince: ago(1_000), failureStatus: 500 }
const failing: EndpointState = {
  ...retrying,
  status: 'failing',
  failingSince: ago(day / 2),
  exhaustedDeliveries: 1,
}

t.test('the first failed attempt is in the state at once, and alerts nobody', async (t) => {
  const change = changeState(active, failed, alone)
  t.match(change, {
    state: { status: 'active', retryingSince: now, failureStatus: 503, failingSince: null },
    alert: null,
  })
  t.match(
    changeState(
      retrying,
      { kind: 'failed', isTrial: false, statusCode: null, cause: 'timeout: after 10.0 s' },
      alone,
    ),
    {
      state: {
        retryingSince: retrying.retryingSince,
        failureStatus: null,
        failureCause: /^timeout/,
      },
    },
    'the first one counts, and the reason of the latest',
  )
})

t.test('an exhausted delivery makes the endpoint failing and alerts its owners', async (t) => {
  t.match(changeState(active, exhausted, alone), {
    state: { status: 'failing', failingSince: now, exhaustedDeliveries: 1, disabledAt: null },
    alert: 'endpoint.failing',
  })
  t.match(
    changeState(failing, exhausted, alone),
    {
      state: { status: 'failing', failingSince: failing.failingSince, exhaustedDeliveries: 2 },
      alert: 'endpoint.failing',
    },
    'it has failed since then',
  )
})

t.test('a success resets, and the recovery of a failing endpoint is an alert', async (t) => {
  t.match(changeState(failing, succeeded, alone), {
    state: {
      status: 'active',
      failingSince: null,
      exhaustedDeliveries: 0,
      lastSuccessAt: now,
      healthySince: now,
      retryingSince: null,
      failureStatus: null,
    },
    alert: 'endpoint.recovered',
  })
  t.match(changeState(retrying, succeeded, alone), {
    state: { status: 'active', retryingSince: null, healthySince: now },
    alert: null,
  })
  t.match(changeState(active, succeeded, alone), {
    state: { status: 'active', lastSuccessAt: now, healthySince: active.healthySince },
    alert: null,
  })
})

t.test('disabled: failing for 5 days with at least 10 exhausted deliveries since', async (t) => {
  const cases: [name: string, state: Partial<EndpointState>, status: string][] = [
    ['both', { failingSince: ago(5 * day), exhaustedDeliveries: 9 }, 'disabled'],
    ['a moment too early', { failingSince: ago(5 * day - 1), exhaustedDeliveries: 9 }, 'failing'],
    ['one too few', { failingSince: ago(5 * day), exhaustedDeliveries: 8 }, 'failing'],
  ]
  for (const [name, changes, status] of cases) {
    const change = changeState({ ...failing, ...changes }, exhausted, alone)
    t.match(change, { state: { status }, alert: `endpoint.${status}` }, name)
    t.strictSame(change?.state.disabledAt, status === 'disabled' ? now : null, name)
  }
})

t.test('a failed trial disables too: a quiet tenant exhausts no more deliveries', async (t) => {
  const trial: AttemptOutcome = { ...failed, isTrial: true }
  const cases: [name: string, state: Partial<EndpointState>, status: string][] = [
    ['both', { failingSince: ago(5 * day), exhaustedDeliveries: 10 }, 'disabled'],
    ['a moment too early', { failingSince: ago(5 * day - 1), exhaustedDeliveries: 10 }, 'failing'],
    ['one too few', { failingSince: ago(5 * day), exhaustedDeliveries: 9 }, 'failing'],
  ]
  for (const [name, changes, status] of cases) {
    const change = changeState({ ...failing, ...changes }, trial, alone)
    const isDisabled = status === 'disabled'
    t.match(change, { state: { status }, alert: isDisabled ? 'endpoint.disabled' : null }, name)
    const before = ago(day)
    const disabled = { ...failing, ...changes, status: 'disabled', disabledAt: before } as const
    const later = changeState(disabled, trial, alone)
    t.match(later, { state: { status: 'disabled', disabledAt: before }, alert: null }, name)
  }
})

t.test('the five days count from when it started failing, not from the last success', async (t) => {
  let state: EndpointState = { ...active, lastSuccessAt: ago(30 * day), exhaustedDeliveries: 99 }
  for (let delivery = 1; delivery <= 20; delivery += 1) {
    const at = new Date(now.getTime() + delivery * 60_000)
    state = changeState(state, exhausted, { now: at, hasBacklog: false })?.state ?? state
    t.equal(state.status, 'failing')
    t.equal(state.exhaustedDeliveries, delivery)
  }
})

t.test('a disabled endpoint stays disabled until it is enabled', async (t) => {
  const disabled: EndpointState = { ...failing, status: 'disabled' }
  for (const outcome of [succeeded, failed, exhausted]) {
    t.equal(changeState(disabled, outcome, alone), null, outcome.kind)
  }
})

t.test('a success of a healthy endpoint is stored at most once a minute', async (t) => {
  const affects = (state: Partial<EndpointState>, outcome: AttemptOutcome = succeeded) =>
    affectsState({ ...active, ...state }, outcome, now)
  t.equal(affects({ lastSuccessAt: ago(59_999) }), false)
  t.equal(affects({ lastSuccessAt: ago(60_000) }), true)
  t.equal(affects({ lastSuccessAt: null }), true)
  t.equal(affects({ lastSuccessAt: ago(1), status: 'failing' }), true)
  t.equal(affects({ lastSuccessAt: ago(1), retryingSince: ago(1) }), true)
  t.equal(affects({ lastSuccessAt: ago(1) }, exhausted), true)
})

t.test('a failed attempt is stored if it is the first one or fails in another way', async (t) => {
  const affects = (state: Partial<EndpointState>, statusCode: number | null, cause?: string) =>
    affectsState(
      { ...active, ...state },
      { kind: 'failed', isTrial: false, statusCode, cause: cause ?? null },
      now,
    )
  const since = { retryingSince: ago(1) }
  t.equal(affects({}, 500), true, 'the first')
  t.equal(affects({ ...since, failureStatus: 500 }, 500), false, 'the same')
  t.equal(affects({ ...since, failureStatus: 500 }, 404), true, 'another status')
  t.equal(affects({ ...since, failureStatus: 500 }, null, 'timeout: after 10.0 s'), true)
  t.equal(affects({ ...since, failureCause: 'refused: a' }, null, 'refused: b'), false, 'detail')
  t.equal(affects({ ...since, failureCause: 'refused: a' }, null, 'dns: a'), true)
})
