import t from 'tap'
import { describeHealth, type HealthFacts } from '#src/webhooks/health/health.ts'

const at = (hour: number) => new Date(Date.UTC(2026, 2, 10, hour))
const healthy: HealthFacts = {
  status: 'active',
  enabledAt: at(1),
  healthySince: null,
  retryingSince: null,
  failingSince: null,
  disabledAt: null,
  paused: null,
  pausedAt: null,
  failureStatus: null,
  failureCause: null,
  recoveringSince: null,
  recoveryStep: 0,
  lastSuccessAt: at(2),
  secretRotatedAt: null,
  retrying: 0,
}

t.test('healthy since it was enabled or since its latest failure ended', async (t) => {
  const since = (facts: Partial<HealthFacts>) => describeHealth({ ...healthy, ...facts }).since
  t.equal(since({}), at(1).toISOString())
  t.equal(since({ healthySince: at(3) }), at(3).toISOString())
  t.equal(since({ healthySince: at(3), enabledAt: at(4) }), at(4).toISOString())
  t.equal(describeHealth(healthy).reason, null)
})

t.test('every other state has its time and its reason in words', async (t) => {
  const retrying = { ...healthy, retryingSince: at(3), failureStatus: 503 }
  t.strictSame(describeHealth(retrying), {
    state: 'retrying',
    since: at(3).toISOString(),
    reason: 'The endpoint answered 503. It has an error of its own. Its log should say why.',
    retrying: 0,
  })
  const failing = { ...retrying, status: 'failing', failingSince: at(4) } as const
  t.match(describeHealth(failing), { state: 'failing', since: at(4).toISOString(), reason: /503/ })
  const disabled = { ...failing, status: 'disabled', disabledAt: at(5) } as const
  t.match(describeHealth(disabled), {
    state: 'disabled',
    since: at(5).toISOString(),
    reason: /^It was disabled because it had failed for five days\. The endpoint answered 503\./,
  })
})

t.test('the reason is the one for customers: it does not tell our network apart', async (t) => {
  const reasons = ['blocked: 10.0.0.1', 'refused: ECONNREFUSED 10.0.0.1', 'dns: ENOTFOUND'].map(
    (failureCause) => describeHealth({ ...healthy, retryingSince: at(3), failureCause }).reason,
  )
  t.equal(new Set(reasons).size, 1)
  t.notMatch(reasons[0], '10.0.0.1')
})

t.test('a failure since the secret was rotated is explained by the rotation', async (t) => {
  const facts = { retryingSince: at(4), failureStatus: 401, secretRotatedAt: at(3) }
  t.match(describeHealth({ ...healthy, ...facts }).reason, 'since its secret was rotated')
})

t.test('without a recorded failure there is still a reason', async (t) => {
  const failing = { ...healthy, status: 'failing', failingSince: at(4) } as const
  t.equal(describeHealth(failing).reason, 'All attempts of a delivery have failed.')
})
