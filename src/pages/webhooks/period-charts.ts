import { columnChart, lineChart } from '#src/pages/kit/charts.ts'
import { segments } from '#src/pages/kit/components.ts'
import { durationText, type Html, html } from '#src/pages/kit/html.ts'
import {
  type Period,
  type PeriodStats,
  periods,
  sampledOfPart,
} from '#src/webhooks/history/stats.ts'
import { hourName, rateOf } from './endpoints.ts'

const labels: Readonly<Record<Period, string>> = {
  day: '24 hours',
  week: '7 days',
  month: '30 days',
}

/** Links to the charts of each period. @param path of the page */
export function periodLinks(path: string, period: Period): Html {
  const linkOf = (one: Period) => (one === 'day' ? path : `${path}?period=${one}`)
  const items = Object.entries(labels).map(([one, label]) => ({
    href: linkOf(one as Period),
    label,
  }))
  return segments('Period', items, linkOf(period))
}

const parts: Readonly<Record<Period, { of: string; ticks: readonly [string, string, string] }>> = {
  day: { of: 'hour', ticks: ['24 hours ago', '12 hours ago', 'now'] },
  week: { of: '6 hours', ticks: ['7 days ago', '', 'now'] },
  month: { of: 'day', ticks: ['30 days ago', '15 days ago', 'now'] },
}

/** Attempts, response times and success rate in the parts of a period. */
export function periodCharts({ period, from, parts: tallies }: PeriodStats): Html {
  const { of, ticks } = parts[period]
  const all = Array.from(
    { length: periods[period].parts },
    (_, at) => tallies.find(({ part }) => part === at) ?? null,
  )
  const shared = { ticks, periods: all.map((_, at) => partName(period, from, at)) }
  const valuesOf = (read: (tally: PeriodStats['parts'][number]) => number) =>
    all.map((tally) => (tally === null ? null : read(tally)))
  return html`<div class="charts">${columnChart({
    ...shared,
    id: 'attempt-chart',
    title: `Attempts by ${of}`,
    format: (value) => value.toLocaleString('en-GB'),
    series: [
      { name: 'Succeeded', kind: 'good', values: valuesOf(({ succeeded }) => succeeded) },
      {
        name: 'Failed',
        kind: 'bad',
        values: valuesOf(({ attempts, succeeded }) => attempts - succeeded),
      },
    ],
  })}${lineChart({
    ...shared,
    id: 'duration-chart',
    title: `Response time by ${of}`,
    format: durationText,
    series: [
      { name: 'Median', kind: 'first', values: valuesOf(({ medianMs }) => medianMs) },
      { name: '95th percentile', kind: 'second', values: valuesOf(({ p95Ms }) => p95Ms) },
    ],
  })}${lineChart({
    ...shared,
    id: 'success-chart',
    title: `Success rate by ${of}`,
    format: (value) => `${value} %`,
    top: 100,
    series: [{ name: 'Success rate', kind: 'first', values: valuesOf(rateOf) }],
  })}</div>`
}

function partName(period: Period, from: Date, at: number): string {
  if (period === 'day') return hourName(at)
  const { partMs } = periods[period]
  const start = new Date(from.getTime() + at * partMs)
  const day = start.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
  if (period === 'month') return day
  const hour = start.getUTCHours()
  return `${day}, ${hour} to ${hour + 6} h UTC`
}

/** What the charts cover. @param stats null if nothing was sent */
export function coverageText(period: Period, stats: PeriodStats | null): Html {
  return stats?.isSampled === true
    ? html`<p class="notice small">Of each ${parts[period].of} only the newest ${sampledOfPart} deliveries are counted: this endpoint has more at times, so the rates and times are those of a sample.</p>`
    : html`<p class="quiet small">Attempts in the last ${labels[period]}. Test events are not counted.</p>`
}
