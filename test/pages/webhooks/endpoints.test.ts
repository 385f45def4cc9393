import t from 'tap'
import { dayStrip } from '#src/pages/webhooks/endpoints.ts'
import { periodCharts } from '#src/pages/webhooks/period-charts.ts'

const hours = [
  { hour: 0, attempts: 40, succeeded: 40, medianMs: 100 },
  { hour: 1, attempts: 40, succeeded: 39, medianMs: 100 },
  { hour: 23, attempts: 2, succeeded: 0, medianMs: 100 },
]

t.test('the strip of an endpoint shows every hour of the last day', async (t) => {
  const { markup } = dayStrip({ attempts: 82, succeeded: 79, medianMs: 100, hours })
  const cells = [...markup.matchAll(/<rect class="(\w+)"[^>]*><title>([^<]*)</g)]
  t.equal(cells.length, 24)
  t.same(cells[0]?.slice(1), ['good', '24 to 23 hours ago: 40 attempts, 0 failed'])
  t.same(cells[1]?.slice(1), ['warning', '23 to 22 hours ago: 40 attempts, 1 failed'])
  t.same(cells[2]?.slice(1), ['none', '22 to 21 hours ago: no attempts'])
  t.same(cells[23]?.slice(1), ['bad', 'Last hour: 2 attempts, 2 failed'])
  t.match(markup, 'aria-label="Last 24 hours: 82 attempts, 3 failed"')
})

t.test('the charts of an endpoint have the figures of every part of the period', async (t) => {
  const tally = { attempts: 40, succeeded: 39, medianMs: 100, p95Ms: 300 }
  const from = new Date('2026-02-20T00:00:00Z')
  const whole = { ...tally, isSampled: false, from, parts: [{ part: 8, ...tally }] }
  for (const [period, parts, name] of [
    ['day', 24, '16 to 15 hours ago'],
    ['week', 28, '22 Feb, 0 to 6 h UTC'],
    ['month', 30, '28 Feb'],
  ] as const) {
    const { markup } = periodCharts({ ...whole, period })
    t.equal(markup.split('<tr role="row"><td').length - 1, 3 * parts, 'a table for each chart')
    t.match(markup, `<title>${name}: Succeeded 39, Failed 1</title>`)
    t.match(markup, `>${name}</td><td role="cell" class="number" data-label="Succeeded">39</td>`)
    t.match(markup, /data-label="Failed">1<\/td>/)
    t.match(markup, /data-label="Median">100 ms<\/td>/)
    t.match(markup, /data-label="95th percentile">300 ms<\/td>/)
    t.match(markup, /data-label="Success rate">97.5 %<\/td>/)
  }
})
