import { type Html, html, table } from './html.ts'

/** Good, bad, or something between. Empty: there is nothing to judge. */
export type Mood = 'good' | 'warning' | 'bad' | 'none'

/** One cell of a strip. @param words what happened, for people who cannot see the colour */
export type StripCell = { mood: Mood; words: string }

const cellWidth = 7
const cellGap = 1.5
const stripHeight = 20

/** One cell for each period, oldest first, coloured by what happened. */
export function statusStrip(label: string, cells: readonly StripCell[]): Html {
  const rects = cells.map(
    ({ mood, words }, index) =>
      html`<rect class="${mood}" x="${index * (cellWidth + cellGap)}" y="0" width="${cellWidth}" height="${stripHeight}" rx="1.5"><title>${words}</title></rect>`,
  )
  const width = Math.max(cells.length * (cellWidth + cellGap) - cellGap, cellWidth)
  return html`<svg class="strip" viewBox="0 0 ${width} ${stripHeight}" preserveAspectRatio="none" role="img" aria-label="${label}">${rects}</svg>`
}

/** Periods from left to right, and what was counted or measured in each. */
export type Chart = {
  /** Unique on the page. */
  id: string
  title: string
  /** What each period is called in the table, oldest first. */
  periods: readonly string[]
  /** Shown below the left end, the middle and the right end. */
  ticks: readonly [string, string, string]
  series: readonly Series[]
  /** A value as text: `12`, `1.2 s`. */
  format: (value: number) => string
}

export type Series = {
  name: string
  kind: 'good' | 'bad' | 'first' | 'second'
  /** One for each period; null where nothing was measured. */
  values: readonly (number | null)[]
}

const width = 480
const height = 130
const plot = { left: 44, right: 4, top: 6, bottom: 18 }
const plotWidth = width - plot.left - plot.right
const plotHeight = height - plot.top - plot.bottom

/** Counts as stacked columns. */
export function columnChart(chart: Chart): Html {
  const { series, periods } = chart
  const sums = periods.map((_, at) => series.reduce((sum, one) => sum + (one.values[at] ?? 0), 0))
  const top = roundUp(Math.max(...sums))
  const slot = plotWidth / periods.length
  const columns = periods.map((period, at) => {
    let base = plot.top + plotHeight
    const parts = series.map(({ kind, values }) => {
      const tall = tallOf(values[at] ?? 0, top)
      base -= tall
      return tall === 0
        ? html``
        : html`<rect class="${kind}" x="${near(plot.left + at * slot + slot * 0.12)}" y="${near(base)}" width="${near(slot * 0.76)}" height="${near(tall)}"/>`
    })
    return html`<g><title>${`${period}: ${wordsAt(chart, at)}`}</title>${parts}</g>`
  })
  return figure(chart, top, columns)
}

/** Measurements as lines, interrupted where nothing was measured. */
export function lineChart(chart: Chart): Html {
  const measured = chart.series.flatMap(({ values }) => values.filter((one) => one !== null))
  const top = roundUp(Math.max(...measured))
  const slot = plotWidth / chart.periods.length
  const lines = chart.series.map(({ kind, values }) => {
    const points = values.map((value, at) =>
      value === null
        ? null
        : {
            x: near(plot.left + (at + 0.5) * slot),
            y: near(plot.top + plotHeight - tallOf(value, top)),
          },
    )
    const parts = points.map((point, at) => {
      if (point === null) return ''
      return `${points[at - 1] ? 'L' : 'M'}${point.x},${point.y}`
    })
    const lonely = points.map((point, at) =>
      point === null || points[at - 1] || points[at + 1]
        ? html``
        : html`<circle class="point ${kind}" cx="${point.x}" cy="${point.y}" r="2.5"/>`,
    )
    return html`<path class="line ${kind}" d="${parts.join('')}"/>${lonely}`
  })
  return figure(chart, top, lines)
}

/** The frame of a chart: its name, what the colours mean, the scale, and the same as a table. */
function figure(chart: Chart, top: number, drawing: readonly Html[]): Html {
  const { id, title, series, periods, ticks, format } = chart
  const isEmpty = series.every(({ values }) => values.every((value) => !value))
  if (isEmpty) {
    return html`<figure class="chart"><figcaption>${title}</figcaption><p class="quiet">No data in this period.</p></figure>`
  }
  const legend = series.map(({ name, kind }) => html`<span class="${kind}">${name}</span>`)
  const bottom = plot.top + plotHeight
  const scale = [0, 0.5, 1].map((part) => {
    const y = near(bottom - part * plotHeight)
    return html`<line class="grid" x1="${plot.left}" x2="${width - plot.right}" y1="${y}" y2="${y}"/><text x="${plot.left - 6}" y="${y + 3}" text-anchor="end">${format(top * part)}</text>`
  })
  const [first, middle, last] = ticks
  const below = height - 4
  const columns = [
    { label: 'Time' },
    ...series.map(({ name }) => ({ label: name, kind: 'number' }) as const),
  ]
  const rows = periods.map((period, at) => [
    period,
    ...series.map(({ values }) => textOf(values[at] ?? null, format)),
  ])
  return html`<figure class="chart">
          <figcaption id="${id}">${title} <span class="legend">${legend}</span></figcaption>
          <svg viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="${id}">${scale}${drawing}<text x="${plot.left}" y="${below}">${first}</text><text x="${near(plot.left + plotWidth / 2)}" y="${below}" text-anchor="middle">${middle}</text><text x="${width - plot.right}" y="${below}" text-anchor="end">${last}</text></svg>
          <details><summary>Show as a table</summary>${table(columns, rows)}</details>
        </figure>`
}

function wordsAt({ series, format }: Chart, at: number): string {
  return series
    .map(({ name, values }) => `${name} ${textOf(values[at] ?? null, format)}`)
    .join(', ')
}

function textOf(value: number | null, format: Chart['format']): string {
  return value === null ? '–' : format(value)
}

/** What is not nothing is at least one unit tall. */
function tallOf(value: number, top: number): number {
  return value === 0 ? 0 : Math.max(1, (value / top) * plotHeight)
}

/** The next of 1, 2, 5, 10, 20, 50 … that is even in halves, so that the scale has round numbers. */
function roundUp(value: number): number {
  const steps = [2, 4, 10]
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)))
  return power * (steps.find((step) => step * power >= value) ?? 10)
}

/** With one decimal, to keep pages small. */
function near(value: number): number {
  return Math.round(value * 10) / 10
}
