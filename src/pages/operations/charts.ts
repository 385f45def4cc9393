import { historyPeriods, type Measure } from '#src/observability/measured.ts'
import { columnChart } from '#src/pages/kit/charts.ts'
import { type Html, html } from '#src/pages/kit/html.ts'

export type MeasuredHistory = Readonly<Record<Measure, readonly (number | null)[]>>

const charts: readonly {
  measure: Measure
  title: string
  kind: 'good' | 'bad' | 'first'
  href: string
  link: string
}[] = [
  {
    measure: 'events',
    title: 'Events in',
    kind: 'first',
    href: '/app/billing',
    link: 'Billing events',
  },
  {
    measure: 'backlog',
    title: 'Events not processed, most',
    kind: 'first',
    href: '/app/billing?status=recorded',
    link: 'Waiting events',
  },
  { measure: 'queues', title: 'Due jobs, most', kind: 'first', href: '#queues', link: 'Queues' },
  {
    measure: 'signIns',
    title: 'Sign-ins',
    kind: 'good',
    href: '#sign-ins',
    link: 'Sign-ins by outcome',
  },
  {
    measure: 'refusals',
    title: 'Refusals',
    kind: 'bad',
    href: '#refusals',
    link: 'Refusals by reason',
  },
  {
    measure: 'providersDown',
    title: 'Providers down, most',
    kind: 'bad',
    href: '#providers',
    link: 'Identity providers',
  },
  {
    measure: 'attempts',
    title: 'Delivery attempts',
    kind: 'good',
    href: '#attempts',
    link: 'Attempts by outcome',
  },
  {
    measure: 'poolWaiting',
    title: 'Waiting for the database, most',
    kind: 'first',
    href: '#processes',
    link: 'Processes',
  },
  {
    measure: 'poolFailures',
    title: 'Without a connection',
    kind: 'bad',
    href: '#processes',
    link: 'Processes',
  },
]

const hours = 24 / historyPeriods
const periods = Array.from({ length: historyPeriods }, (_, index) => {
  const ago = (historyPeriods - index) * hours
  return index === historyPeriods - 1 ? `Last ${hours} hours` : `${ago} to ${ago - hours} hours ago`
})

/** Small charts of the last 24 hours, each with its list. */
export function historySection(history: MeasuredHistory): Html {
  const items = charts.map(
    ({ measure, title, kind, href, link }) =>
      html`<div>${
        isNone(history[measure])
          ? html`<figure class="chart"><figcaption>${title}</figcaption><p class="quiet">None in this period.</p></figure>`
          : columnChart({
              id: `chart-${measure}`,
              title,
              periods,
              ticks: ['24 h ago', '12 h ago', 'now'],
              series: [{ name: title, kind, values: history[measure] }],
              format: (value) => value.toLocaleString('en-GB'),
            })
      }<p class="small"><a href="${href}">${link}</a></p></div>`,
  )
  return html`<section class="card" aria-labelledby="history">
        <h2 id="history">Last 24 hours</h2>
        <div class="multiples">${items}</div>
        <p class="quiet small">Measured by this web process every five minutes since it started. Backlog and queues are those of the installation; the other numbers are its own.</p>
      </section>`
}

/** Measured, and 0 all the time. Without a measurement the chart says that there is no data. */
function isNone(values: readonly (number | null)[]): boolean {
  const measured = values.filter((value) => value !== null)
  return measured.length > 0 && measured.every((value) => value === 0)
}
