import t from 'tap'
import { createHistory, historyPeriods } from '#src/observability/measured.ts'
import { createMetrics } from '#src/observability/metrics.ts'

t.test('counters show what they grew by, gauges their highest value; a day is kept', async (t) => {
  const { registry, billing, outbound } = createMetrics()
  let [refreshed, down] = [0, 0]
  const refresh = async () => {
    refreshed += 1
  }
  const history = createHistory(registry, refresh, () => down)
  t.same(history.valuesOf('attempts'), Array(historyPeriods).fill(null), 'nothing measured yet')

  outbound.attempts.inc({ outcome: 'succeeded' }, 7)
  await history.sample()
  const last = (measure: Parameters<typeof history.valuesOf>[0]) => history.valuesOf(measure).at(-1)
  t.equal(last('attempts'), 0, 'what came before the first sample is not of this time')
  outbound.attempts.inc({ outcome: 'succeeded' }, 2)
  outbound.attempts.inc({ outcome: 'failed' })
  billing.backlogEvents.set({ status: 'recorded' }, 9)
  down = 1
  await history.sample()
  billing.backlogEvents.set({ status: 'recorded' }, 4)
  down = 0
  await history.sample()
  t.equal(last('attempts'), 3)
  t.equal(last('backlog'), 9)
  t.equal(last('providersDown'), 1)
  t.equal(refreshed, 3)

  for (let made = 0; made < 24; made += 1) await history.sample()
  t.same(history.valuesOf('attempts').slice(-2), [3, 0], 'the period before')
  for (let made = 0; made < 288; made += 1) await history.sample()
  t.same(history.valuesOf('attempts'), Array(historyPeriods).fill(0), 'older samples are dropped')
})

t.test('a failed measurement is reported and leaves no sample', async (t) => {
  const { registry } = createMetrics()
  const failure = new Error('no database')
  const history = createHistory(
    registry,
    () => Promise.reject(failure),
    () => 0,
  )
  const error = await new Promise((resolve) => {
    const samples = history.start(resolve)
    t.teardown(() => samples.stop())
  })
  t.equal(error, failure)
  t.same(history.valuesOf('events'), Array(historyPeriods).fill(null))
})
