import t from 'tap'
import { affectsHealth, decideHealth, type EndpointState } from '#src/webhooks/endpoints/health.ts'

const day = 86_400_000
const now = new Date('2026-03-10T10:00:00Z')
const ago = (ms: number) => new Date(now.getTime() - ms)
const active: EndpointState = {
  status: 'active',
  lastSuccessAt: ago(day),
  failingSince: null,
  exhaustedDeliveries: 0,
}
const failing: EndpointState = {
  ...active,
  status: 'failing',
  failingSince: ago(day / 2),
  exhaustedDeliveries: 1,
}

t.test('an exhausted delivery makes the endpoint failing and alerts its owners', async (t) => {
  t.match(decideHealth(active, 'exhausted', now), {
    state: { status: 'failing', failingSince: now, exhaustedDeliveries: 1, disabledAt: null },
    alert: 'endpoint.failing',
  })
  t.match(
    decideHealth(failing, 'exhausted', now),
    {
      state: { status: 'failing', failingSince: failing.failingSince, exhaustedDeliveries: 2 },
      alert: 'endpoint.failing',
    },
    'it has failed since then',
  )
})

t.test('a success resets, and the recovery of a failing endpoint is an alert', async (t) => {
  t.match(decideHealth(failing, 'succeeded', now), {
    state: { status: 'active', failingSince: null, exhaustedDeliveries: 0, lastSuccessAt: now },
    alert: 'endpoint.recovered',
  })
  t.match(decideHealth(active, 'succeeded', now), {
    state: { status: 'active', lastSuccessAt: now },
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
    const decision = decideHealth({ ...failing, ...changes }, 'exhausted', now)
    t.match(decision, { state: { status }, alert: `endpoint.${status}` }, name)
    t.strictSame(decision?.state.disabledAt, status === 'disabled' ? now : null, name)
  }
})

t.test('the five days count from when it started failing, not from the last success', async (t) => {
  let state: EndpointState = { ...active, lastSuccessAt: ago(30 * day), exhaustedDeliveries: 99 }
  for (let delivery = 1; delivery <= 20; delivery += 1) {
    const at = new Date(now.getTime() + delivery * 60_000)
    state = decideHealth(state, 'exhausted', at)?.state ?? state
    t.equal(state.status, 'failing')
    t.equal(state.exhaustedDeliveries, delivery)
  }
})

t.test('a disabled endpoint stays disabled until it is enabled', async (t) => {
  const disabled: EndpointState = { ...failing, status: 'disabled' }
  t.equal(decideHealth(disabled, 'succeeded', now), null)
  t.equal(decideHealth(disabled, 'exhausted', now), null)
})

t.test('a success of an active endpoint is stored at most once a minute', async (t) => {
  const affects = (state: Partial<EndpointState>, ended: 'succeeded' | 'exhausted' = 'succeeded') =>
    affectsHealth({ ...active, ...state }, ended, now)
  t.equal(affects({ lastSuccessAt: ago(59_999) }), false)
  t.equal(affects({ lastSuccessAt: ago(60_000) }), true)
  t.equal(affects({ lastSuccessAt: null }), true)
  t.equal(affects({ lastSuccessAt: ago(1), status: 'failing' }), true)
  t.equal(affects({ lastSuccessAt: ago(1) }, 'exhausted'), true)
})
