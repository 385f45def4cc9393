import t from 'tap'
import { forecast, nextForecastAt } from '#src/webhooks/health/forecast.ts'

const day = 86_400_000
const now = new Date('2026-03-10T10:00:00Z')
const inDays = (days: number) => new Date(now.getTime() + days * day)

t.test('a certificate is a warning 14 and 3 days before it expires', async (t) => {
  const message = (days: number) => forecast(inDays(days), [], now)?.message
  t.equal(message(60), undefined)
  t.equal(message(14.01), undefined)
  t.match(message(14), 'less than 14 days, at 2026-03-24 10:00 UTC')
  t.match(message(3.01), 'less than 14 days')
  t.match(message(3), 'less than 3 days')
  t.equal(message(0), undefined, 'then its health says so')
})

t.test(
  'a warning keeps its time; a closer end, and another certificate, are new ones',
  async (t) => {
    const first = forecast(inDays(10), [], now)
    t.match(first, { kind: 'certificate', since: now.toISOString() })
    const before = first === null ? [] : [first]
    t.equal(forecast(inDays(10), before, inDays(1)), first)
    t.match(forecast(inDays(10), before, inDays(8)), { since: inDays(8).toISOString() })
    t.match(forecast(inDays(11), before, inDays(1)), { since: inDays(1).toISOString() })
  },
)

t.test('the next look is in an hour, or when a certificate comes closer to its end', async (t) => {
  const hour = day / 24
  t.strictSame(nextForecastAt(inDays(60), now), inDays(1 / 24))
  for (const days of [3, 14]) {
    const soon = new Date(inDays(days).getTime() + hour / 2)
    t.strictSame(nextForecastAt(soon, now), inDays(1 / 48), `${days} days`)
  }
})
