import { historyPeriods, type Measure } from '#src/observability/measured.ts'
import { columnChart } from '#src/pages/kit/charts.ts'
import { type Html, html } from '#src/pages/kit/html.ts'

export type MeasuredHistory = Readonly<Record<Measure, readonly (number | null)[]>>

type Chart = {
  measure: Measure
  title: string
  kind: 'good' | 'bad' | 'first'
  href: string
  link: string
}

const charts: readonly Chart[] = [
  {
    measure: 'events',
    title: 'Events in',
    kind: 'first',
    href: '/app/billing',
    link: 'Billing events',
  },
  {
    measure: 'backlog',
    title: 'Events not processed (peak)',
    kind: 'first',
    href: '/app/billing?status=recorded',
    link: 'Waiting events',
  },
  {
    measure: 'queues',
    title: 'Due jobs (peak)',
    kind: 'first',
    href: '/app/operations/work#queues',
    link: 'Queues',
  },
  {
    measure: 'signIns',
    title: 'Sign-ins',
    kind: 'good',
    href: '/app/operations/counters#sign-ins',
    link: 'Sign-ins by outcome',
  },
  {
    measure: 'refusals',
    title: 'Refusals',
    kind: 'bad',
    href: '/app/operations/counters#refusals',
    link: 'Refusals by reason',
  },
  {
    measure: 'providersDown',
    title: 'Providers down (peak)',
    kind: 'bad',
    href: '/app/operations/work#providers',
    link: 'Identity providers',
  },
  {
    measure: 'attempts',
    title: 'Delivery attempts',
    kind: 'good',
    href: '/app/operations/counters#attempts',
    link: 'Attempts by outcome',
  },
  {
    measure: 'poolWaiting',
    title: 'Waiting for the database (peak)',
    kind: 'first',
    href: '/app/operations/work#processes',
    link: 'Processes',
  },
  {
    measure: 'poolFailures',
    title: 'Without a database connection',
    kind: 'bad',
    href: '/app/operations/work#processes',
    link: 'Processes',
  },
]

const hours = 24 / historyPeriods
const periods = Array.from({ length: historyPeriods }, (_, index) => {
  const ago = (historyPeriods - index) * hours
  return index === historyPeriods - 1 ? `Last ${hours} hours` : `${ago} to ${ago - hours} hours ago`
})

/** Small charts of what there was in the last 24 hours, each with its list, and what there was not. */
export function historySection(history: MeasuredHistory): Html {
  const some = charts.filter(({ measure }) => history[measure].some(isSome))
  const none = charts.filter((chart) => !some.includes(chart)).map(({ title }) => title)
  const isMeasured = Object.values(history).some((values) => values.some((one) => one !== null))
  return html`<section class="card" aria-labelledby="history">
        <h2 id="history">Last 24 hours</h2>
        ${some.length === 0 ? '' : html`<div class="multiples">${some.map((chart) => chartOf(chart, history))}</div>`}
        ${isMeasured ? noneText(none) : html`<p class="quiet">No data yet. The first measurement follows within five minutes.</p>`}
        <p class="quiet small">Measured by this web process every five minutes since it started. Backlog and queues are those of the installation; the other numbers are its own.</p>
      </section>`
}

function isSome(value: number | null): boolean {
  return value !== null && value !== 0
}

function noneText(titles: readonly string[]): Html {
  return titles.length === 0
    ? html``
    : html`<p class="quiet">None in this period: ${titles.map((title) => title.replace(' (peak)', '').toLowerCase()).join(', ')}.</p>`
}

function chartOf({ measure, title, kind, href, link }: Chart, history: MeasuredHistory): Html {
  const chart = columnChart({
    id: `chart-${measure}`,
    title,
    periods,
    ticks: ['24 h ago', '12 h ago', 'now'],
    series: [{ name: title, kind, values: history[measure] }],
    format: (value) => value.toLocaleString('en-GB'),
  })
  return html`<div>${chart}<p class="small"><a href="${href}">${link}</a></p></div>`
}
