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
  /** The upper end of the scale; by default it follows the values. */
  top?: number
}

export type Series = {
  name: string
  kind: 'good' | 'bad' | 'first' | 'second'
  /** One for each period; null where nothing was measured. */
  values: readonly (number | null)[]
}

// Units of a drawing, which is stretched to the place it has. The texts are beside it, so that they
// have the same size at every width.
const slot = 10 // for each period
const height = 100

/** Counts as stacked columns. */
export function columnChart(chart: Chart): Html {
  const { series, periods } = chart
  if (series.every(({ values }) => values.every((value) => !value))) return emptyChart(chart)
  const sums = periods.map((_, at) => series.reduce((sum, one) => sum + (one.values[at] ?? 0), 0))
  const top = chart.top ?? roundUp(Math.max(...sums))
  const columns = periods.map((_, at) => {
    let base = height
    return series.map(({ kind, values }) => {
      const tall = tallOf(values[at] ?? 0, top)
      base -= tall
      return tall === 0
        ? html``
        : html`<rect class="${kind}" x="${near(at * slot + slot * 0.12)}" y="${near(base)}" width="${near(slot * 0.76)}" height="${near(tall)}"/>`
    })
  })
  return figure(chart, top, columns, html``)
}

/** Measurements as lines, interrupted where nothing was measured. */
export function lineChart(chart: Chart): Html {
  const measured = chart.series.flatMap(({ values }) => values.filter((one) => one !== null))
  if (measured.length === 0) return emptyChart(chart)
  const top = chart.top ?? roundUp(Math.max(...measured))
  const lines = chart.series.map(({ kind, values }) => {
    const points = values.map((value, at) =>
      value === null ? null : { x: (at + 0.5) * slot, y: near(height - tallOf(value, top)) },
    )
    const parts = points.map((point, at) => {
      if (point === null) return ''
      return `${points[at - 1] ? 'L' : 'M'}${point.x},${point.y}`
    })
    // A line without length, whose round ends are a point at any stretch.
    const lonely = points.map((point, at) =>
      point === null || points[at - 1] || points[at + 1]
        ? html``
        : html`<path class="point ${kind}" d="M${point.x},${point.y}h0"/>`,
    )
    return html`<path class="line ${kind}" d="${parts.join('')}"/>${lonely}`
  })
  return figure(chart, top, [], html`${lines}`)
}

function emptyChart({ title }: Chart): Html {
  return html`<figure class="chart"><figcaption>${title}</figcaption><p class="quiet">No data in this period.</p></figure>`
}

/**
 * The frame of a chart: its name, what the colours mean, the scale, and its values as a table. Each
 * period answers the pointer over its whole height.
 */
function figure(
  chart: Chart,
  top: number,
  columns: readonly (readonly Html[])[],
  lines: Html,
): Html {
  const { id, title, series, periods, ticks, format } = chart
  const legend = series.map(({ name, kind }) => html`<span class="${kind}">${name}</span>`)
  const width = periods.length * slot
  const grid = [0, height / 2, height].map((y) => html`<path class="grid" d="M0,${y}h${width}"/>`)
  const slots = periods.map(
    (period, at) =>
      html`<g><title>${`${period}: ${wordsAt(chart, at)}`}</title><path class="slot" d="M${at * slot},0h${slot}v${height}h-${slot}z"/>${columns[at] ?? ''}</g>`,
  )
  const heads = [
    { label: 'Time' },
    ...series.map(({ name }) => ({ label: name, kind: 'number' }) as const),
  ]
  const rows = periods.map((period, at) => [
    period,
    ...series.map(({ values }) => textOf(values[at] ?? null, format)),
  ])
  return html`<figure class="chart">
          <figcaption id="${id}">${title}${series.length < 2 ? '' : html` <span class="legend">${legend}</span>`}</figcaption>
          <div class="plot">
            <div class="scale" aria-hidden="true">${[1, 0.5, 0].map((part) => html`<span>${format(top * part)}</span>`)}</div>
            <svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-labelledby="${id}">${grid}${slots}${lines}</svg>
            <div class="ticks" aria-hidden="true">${ticks.map((tick) => html`<span>${tick}</span>`)}</div>
          </div>
          <details><summary>Show as a table</summary>${table(heads, rows)}</details>
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
  return value === 0 ? 0 : Math.max(1, (value / top) * height)
}

/** The next of 2, 4, 10, 20, 40, 100 …, whose halves are round numbers too. */
function roundUp(value: number): number {
  const steps = [2, 4, 10]
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)))
  return power * (steps.find((step) => step * power >= value) ?? 10)
}

/** With one decimal, to keep pages small. */
function near(value: number): number {
  return Math.round(value * 10) / 10
}
