import t from 'tap'
import { type Chart, columnChart, lineChart, statusStrip } from '#src/pages/kit/charts.ts'

const chart: Chart = {
  id: 'one',
  title: 'Attempts',
  periods: ['first', 'second', 'third'],
  ticks: ['first', 'second', 'third'],
  series: [
    { name: 'Succeeded', kind: 'good', values: [10, null, 30] },
    { name: 'Failed', kind: 'bad', values: [10, null, 1] },
  ],
  format: (value) => `${value} pieces`,
}

/** The columns by their kind: x, y and height. */
function columnsOf(markup: string) {
  const found = markup.matchAll(
    /<rect class="(\w+)" x="([\d.]+)" y="([\d.]+)" width="[\d.]+" height="([\d.]+)"/g,
  )
  return [...found].map(([, kind, x, y, tall]) => [kind, ...[x, y, tall].map(Number)])
}

t.test('columns are stacked on each other, in proportion to a round scale', async (t) => {
  const { markup } = columnChart(chart)
  t.match(markup, '<span>40 pieces</span>', 'the top of the scale')
  const [good, bad, , small] = columnsOf(markup)
  t.same(good?.slice(0, 1), ['good'])
  const [, x, y, tall] = good ?? []
  t.equal(tall, 25, '10 of 40 of the height')
  t.same(bad, ['bad', x, Number(y) - 25, 25], 'the failed ones stand on the others')
  t.equal(small?.[3], 2.5, '1 of 40')
  t.match(markup, '<title>first: Succeeded 10 pieces, Failed 10 pieces</title>')
})

t.test('one of many is still seen', async (t) => {
  const series = [{ name: 'Failed', kind: 'bad', values: [100_000, 1, null] }] as const
  t.equal(columnsOf(columnChart({ ...chart, series }).markup)[1]?.[3], 1)
})

t.test('a line is interrupted where nothing was measured', async (t) => {
  const { markup } = lineChart(chart)
  const [line] = /class="line good" d="([^"]*)"/.exec(markup)?.slice(1) ?? []
  t.equal(line?.match(/M/g)?.length, 2, 'two parts')
  t.equal(markup.match(/class="point/g)?.length, 4, 'a value without neighbours is a point')
  t.notMatch(markup, /NaN|Infinity/)
})

t.test('every chart has its values as a table', async (t) => {
  for (const { markup } of [columnChart(chart), lineChart(chart)]) {
    t.equal(markup.match(/<tr role="row">/g)?.length, 4, 'a head and three periods')
    t.match(markup, /data-label="Succeeded">30 pieces<\/td>/)
    t.match(markup, /data-label="Failed">–<\/td>/, 'nothing was measured')
  }
})

t.test('a chart without data says so', async (t) => {
  const nothing = [{ name: 'Failed', kind: 'bad', values: [null, 0, null] }] as const
  const unmeasured = [{ name: 'Median', kind: 'first', values: [null, null, null] }] as const
  for (const { markup } of [
    columnChart({ ...chart, series: nothing }),
    lineChart({ ...chart, series: unmeasured }),
  ]) {
    t.match(markup, 'No data in this period.')
    t.notMatch(markup, /<svg|NaN|Infinity/)
  }
})

t.test('a measured zero is a point on the ground of a line chart', async (t) => {
  const series = [{ name: 'Success rate', kind: 'first', values: [null, 0, null] }] as const
  const { markup } = lineChart({ ...chart, series, top: 100 })
  t.match(markup, '<path class="point first" d="M15,100h0"/>')
  t.match(markup, '<span>100 pieces</span>', 'the scale is the given one')
})

t.test('the words of a period are those of its column and its line', async (t) => {
  for (const draw of [columnChart, lineChart]) {
    const { markup } = draw(chart)
    t.equal(markup.match(/<title>/g)?.length, chart.periods.length)
    t.match(markup, '<title>second: Succeeded –, Failed –</title><path class="slot" d="M10,0h10')
  }
})

t.test('a strip has a cell for each period with its words', async (t) => {
  const { markup } = statusStrip('Last day', [
    { mood: 'good', words: 'first: 3 attempts' },
    { mood: 'none', words: '<second>' },
  ])
  t.match(markup, 'aria-label="Last day"')
  t.match(markup, /<rect class="good"[^>]*><title>first: 3 attempts<\/title>/)
  t.match(markup, /<rect class="none"[^>]*><title>&lt;second&gt;<\/title>/)
})
