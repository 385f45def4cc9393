import t from 'tap'
import {
  type ForecastFacts,
  forecast,
  mergeForecasts,
  nextForecastAt,
} from '#src/webhooks/health/forecast.ts'

const day = 86_400_000
const now = new Date('2026-03-10T10:00:00Z')
const inDays = (days: number) => new Date(now.getTime() + days * day)
const well = { attempts: 100, succeeded: 99, slowMs: 300 }
const facts: ForecastFacts = {
  status: 'active',
  certificateExpiresAt: inDays(60),
  timeoutMs: 10_000,
  recent: well,
  before: well,
}
const kinds = (changes: Partial<ForecastFacts>) =>
  forecast({ ...facts, ...changes }, now).map(({ kind }) => kind)

t.test('nothing is expected of an endpoint that is well, or that nobody uses', async (t) => {
  const none = { attempts: 0, succeeded: 0, slowMs: null }
  t.strictSame(kinds({}), [])
  t.strictSame(kinds({ certificateExpiresAt: null, recent: none, before: none }), [])
})

t.test('a certificate is a warning 14 and 3 days before it expires', async (t) => {
  const message = (days: number) =>
    forecast({ ...facts, certificateExpiresAt: inDays(days) }, now)[0]?.message
  t.equal(message(14.01), undefined)
  t.match(message(14), 'less than 14 days, at 2026-03-24 10:00 UTC')
  t.match(message(3.01), 'less than 14 days')
  t.match(message(3), 'less than 3 days')
  t.equal(message(0), undefined, 'then its health says so')
  t.strictSame(kinds({ status: 'failing', certificateExpiresAt: inDays(2) }), ['certificate'])
})

t.test('responses close to the timeout are a warning', async (t) => {
  const slow = (slowMs: number, attempts = 20) => ({
    recent: { ...well, attempts, succeeded: attempts, slowMs },
  })
  t.strictSame(kinds(slow(6_999)), [])
  t.strictSame(kinds(slow(7_000)), ['response-time'])
  t.strictSame(kinds(slow(9_000, 19)), [], 'too few to say')
  t.strictSame(kinds({ ...slow(7_000), status: 'failing' }), [])
})

t.test('a falling success rate is a warning, a low one alone is not', async (t) => {
  const rate = (recent: number, before: number) => ({
    recent: { ...well, succeeded: recent },
    before: { ...well, succeeded: before },
  })
  t.strictSame(kinds(rate(88, 98)), ['success-rate'])
  t.strictSame(kinds(rate(89, 98)), [])
  t.strictSame(kinds(rate(50, 80)), [])
  t.strictSame(kinds({ ...rate(80, 98), status: 'disabled' }), [])
})

t.test(
  'a warning keeps its time and words; a closer end of a certificate is a new one',
  async (t) => {
    const slow = { ...facts, recent: { ...well, slowMs: 8_000 } }
    const first = forecast({ ...slow, certificateExpiresAt: inDays(10) }, now)
    t.strictSame(mergeForecasts([], first).fresh, first)
    const later = inDays(1)
    const second = forecast(
      { ...slow, recent: { ...well, slowMs: 9_000 }, certificateExpiresAt: inDays(10) },
      later,
    )
    t.strictSame(mergeForecasts(first, second), { forecasts: first, fresh: [] })
    const third = forecast({ ...slow, certificateExpiresAt: inDays(10) }, inDays(8))
    t.strictSame(
      mergeForecasts(first, third).fresh.map(({ kind }) => kind),
      ['certificate'],
    )
    t.strictSame(mergeForecasts(first, []), { forecasts: [], fresh: [] })
  },
)

t.test('the next look is in an hour, or when a certificate comes closer to its end', async (t) => {
  const hour = day / 24
  t.strictSame(nextForecastAt(facts, now), inDays(1 / 24))
  const soon = new Date(inDays(14).getTime() + hour / 2)
  t.strictSame(nextForecastAt({ ...facts, certificateExpiresAt: soon }, now), inDays(1 / 48))
})
