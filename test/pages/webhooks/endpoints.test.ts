import t from 'tap'
import { sparkline } from '#src/pages/webhooks/endpoints.ts'

/** The heights of the bars, by kind. */
function heights(attempts: number, succeeded: number) {
  const hour = { hour: 5, attempts, succeeded, medianMs: 100 }
  const { markup } = sparkline({ attempts, succeeded, medianMs: 100, hours: [hour] })
  const bars = [
    ...markup.matchAll(/<rect class="(\w+)" x="30" y="(\d+)" width="4" height="(\d+)"/g),
  ]
  return Object.fromEntries(bars.map(([, kind, y, tall]) => [kind, [Number(y), Number(tall)]]))
}

t.test('a bar is marked in proportion to the attempts that failed', async (t) => {
  t.same(heights(40, 40), { well: [0, 28] })
  t.same(heights(40, 39), { failed: [0, 1], well: [1, 27] }, 'one of 40')
  t.same(heights(40, 20), { failed: [0, 14], well: [14, 14] })
  t.same(heights(40, 0), { failed: [0, 28] })
})

t.test('a short bar with failures is still seen', async (t) => {
  const hours = [
    { hour: 0, attempts: 40, succeeded: 39, medianMs: 1 },
    { hour: 1, attempts: 1, succeeded: 1, medianMs: 9_000 },
  ]
  const { markup } = sparkline({ attempts: 41, succeeded: 40, medianMs: 1, hours })
  t.match(markup, '<rect class="failed" x="0" y="26" width="4" height="1"')
  t.match(markup, '1 ms to 9.0 s; 1 of 2 hours with failures.')
})
