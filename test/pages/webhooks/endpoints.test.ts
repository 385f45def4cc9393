import t from 'tap'
import { dayCharts, dayStrip } from '#src/pages/webhooks/endpoints.ts'

const tally = { medianMs: 100, p95Ms: 300 }
const hours = [
  { hour: 0, attempts: 40, succeeded: 40, ...tally },
  { hour: 1, attempts: 40, succeeded: 39, ...tally },
  { hour: 23, attempts: 2, succeeded: 0, ...tally },
]
const stats = { attempts: 82, succeeded: 79, ...tally, isSampled: false, hours }

t.test('the strip of an endpoint shows every hour of the last day', async (t) => {
  const { markup } = dayStrip(stats)
  const cells = [...markup.matchAll(/<rect class="(\w+)"[^>]*><title>([^<]*)</g)]
  t.equal(cells.length, 24)
  t.same(cells[0]?.slice(1), ['good', '24 to 23 hours ago: 40 attempts, 0 failed'])
  t.same(cells[1]?.slice(1), ['warning', '23 to 22 hours ago: 40 attempts, 1 failed'])
  t.same(cells[2]?.slice(1), ['none', '22 to 21 hours ago: no attempts'])
  t.same(cells[23]?.slice(1), ['bad', 'Last hour: 2 attempts, 2 failed'])
  t.match(markup, 'aria-label="Last 24 hours: 82 attempts, 3 failed"')
})

t.test('the charts of an endpoint have the figures of every hour', async (t) => {
  const { markup } = dayCharts(stats)
  t.match(markup, /data-label="Failed">1<\/td>/)
  t.match(markup, /data-label="Median">100 ms<\/td>/)
  t.match(markup, /data-label="95th percentile">300 ms<\/td>/)
})
