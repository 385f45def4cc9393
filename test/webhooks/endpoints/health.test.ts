import t from 'tap'
import { affectsHealth, decideHealth, type EndpointState } from '#src/webhooks/endpoints/health.ts'

const day = 86_400_000
const now = new Date('2026-03-10T10:00:00Z')
const ago = (ms: number) => new Date(now.getTime() - ms)
const active: EndpointState = {
  status: 'active',
  enabledAt: ago(30 * day),
  lastSuccessAt: ago(day),
  failingSince: null,
}
const failing: EndpointState = { ...active, status: 'failing', failingSince: ago(day / 2) }

t.test('an exhausted delivery makes the endpoint failing and alerts its owners', async (t) => {
  t.match(decideHealth(active, 'exhausted', 1, now), {
    state: { status: 'failing', failingSince: now, disabledAt: null },
    alert: 'endpoint.failing',
  })
  t.match(
    decideHealth(failing, 'exhausted', 2, now),
    { state: { status: 'failing', failingSince: failing.failingSince }, alert: 'endpoint.failing' },
    'it has failed since then',
  )
})

t.test('a success resets, and the recovery of a failing endpoint is an alert', async (t) => {
  t.match(decideHealth(failing, 'succeeded', 0, now), {
    state: { status: 'active', failingSince: null, lastSuccessAt: now },
    alert: 'endpoint.recovered',
  })
  t.match(decideHealth(active, 'succeeded', 0, now), {
    state: { status: 'active', lastSuccessAt: now },
    alert: null,
  })
})

t.test('disabled: no success for 5 days and at least 10 exhausted deliveries', async (t) => {
  const cases: [name: string, state: Partial<EndpointState>, exhausted: number, status: string][] =
    [
      ['both', { lastSuccessAt: ago(5 * day) }, 10, 'disabled'],
      ['a moment too early', { lastSuccessAt: ago(5 * day - 1) }, 10, 'failing'],
      ['one too few', { lastSuccessAt: ago(5 * day) }, 9, 'failing'],
      ['never a success', { lastSuccessAt: null, enabledAt: ago(5 * day) }, 10, 'disabled'],
      ['enabled since', { lastSuccessAt: ago(9 * day), enabledAt: ago(day) }, 10, 'failing'],
      [
        'enabled long ago',
        { lastSuccessAt: ago(9 * day), enabledAt: ago(6 * day) },
        10,
        'disabled',
      ],
    ]
  for (const [name, changes, exhausted, status] of cases) {
    const decision = decideHealth({ ...failing, ...changes }, 'exhausted', exhausted, now)
    t.match(decision, { state: { status }, alert: `endpoint.${status}` }, name)
    t.strictSame(decision?.state.disabledAt, status === 'disabled' ? now : null, name)
  }
})

t.test('a disabled endpoint stays disabled until it is enabled', async (t) => {
  const disabled: EndpointState = { ...failing, status: 'disabled' }
  t.equal(decideHealth(disabled, 'succeeded', 0, now), null)
  t.equal(decideHealth(disabled, 'exhausted', 99, now), null)
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
