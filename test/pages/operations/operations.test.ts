import t from 'tap'
import { historyPeriods } from '#src/observability/measured.ts'
import { ageText } from '#src/pages/kit/html.ts'
import { historySection, type MeasuredHistory } from '#src/pages/operations/charts.ts'

t.test('ages are in the largest unit that says enough', async (t) => {
  t.same([45, 90, 7_200, 100_000, 345_600].map(ageText), ['45 s', '2 min', '2 h', '28 h', '4 d'])
})

t.test('only what there was has a chart; the rest is one sentence', async (t) => {
  const all = (value: number | null): MeasuredHistory => {
    const values = Array.from({ length: historyPeriods }, () => value)
    return {
      ...{ events: values, backlog: values, queues: values, signIns: values, refusals: values },
      ...{ providersDown: values, attempts: values, poolWaiting: values, poolFailures: values },
    }
  }
  const text = (history: MeasuredHistory) => historySection(history).markup
  t.match(text(all(null)), 'No data yet')
  t.notMatch(text(all(null)), '<figure')
  t.match(text(all(0)), 'None in this period: events in, events not processed, due jobs')
  t.notMatch(text(all(0)), '<figure')
  const some = text({ ...all(0), events: [...all(0).events.slice(1), 7] })
  t.equal(some.match(/<figure/g)?.length, 1)
  t.notMatch(some, 'None in this period: events in')
  t.notMatch(text(all(2)), 'None in this period')
})
