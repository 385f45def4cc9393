import fc from 'fast-check'
import t from 'tap'
import { grantDeliveries, type RateLimit } from '#src/webhooks/schedule/rate-limit.ts'

const start = new Date('2026-03-10T10:00:00Z')
const later = (ms: number) => new Date(start.getTime() + ms)
const many = { wanted: 100, aheadMs: 0 }

t.test('after a quiet time a burst, then the rate', async (t) => {
  const limit = { perSecond: 2, burst: 3 }
  const first = grantDeliveries(limit, null, many, start)
  t.strictSame(first.waitsSeconds, [0, 0, 0])
  const at = (ms: number) =>
    grantDeliveries(limit, first.nextAt, many, later(ms)).waitsSeconds.length
  t.equal(at(499), 0)
  t.equal(at(500), 1)
  t.equal(at(1_000), 2)
  t.equal(at(60_000), 3, 'a longer quiet time gives no more')
})

t.test('what becomes due soon is granted with its wait', async (t) => {
  const ahead = { wanted: 100, aheadMs: 1_000 }
  const { waitsSeconds, nextAt } = grantDeliveries({ perSecond: 4, burst: 1 }, null, ahead, start)
  t.strictSame(waitsSeconds, [0, 0.25, 0.5, 0.75, 1])
  const more = grantDeliveries({ perSecond: 4, burst: 1 }, nextAt, ahead, later(500))
  t.strictSame(more.waitsSeconds, [0.75, 1], 'and is not granted twice')
})

t.test('no time span has more than a burst and what the rate adds', async () => {
  const rate = fc.integer({ min: 1, max: 1_000 })
  const calls = fc.array(
    fc.record({
      afterMs: fc.integer({ min: 0, max: 3_000 }),
      wanted: fc.integer({ min: 0, max: 50 }),
      aheadMs: fc.constantFrom(0, 500, 4_000),
    }),
    { maxLength: 20 },
  )
  fc.assert(
    fc.property(fc.record({ perSecond: rate, burst: rate }), calls, (limit, list) => {
      const times = grantedTimes(limit, list)
      return times.every((from, index) =>
        times.slice(index).every((to, more) => {
          const allowed = limit.burst + ((to - from) / 1_000) * limit.perSecond
          return more + 1 <= allowed + 0.1 // times are floats
        }),
      )
    }),
  )
})

/** When the granted deliveries start, in ms. */
function grantedTimes(
  limit: RateLimit,
  calls: readonly { afterMs: number; wanted: number; aheadMs: number }[],
): number[] {
  let nowMs = start.getTime()
  let nextAt: Date | null = null
  const times: number[] = []
  for (const { afterMs, ...wanted } of calls) {
    nowMs += afterMs
    const granted = grantDeliveries(limit, nextAt, wanted, new Date(nowMs))
    nextAt = granted.nextAt
    times.push(...granted.waitsSeconds.map((seconds) => nowMs + seconds * 1_000))
  }
  return times.toSorted((a, b) => a - b)
}
