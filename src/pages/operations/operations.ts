import type { RunningProcess } from '#src/operations/running-processes.ts'
import { pageHead, tabs } from '#src/pages/kit/components.ts'
import {
  ageText,
  type Cell,
  durationText,
  type Html,
  html,
  type Stat,
  stats,
  table,
  timeText,
} from '#src/pages/kit/html.ts'
import { layout, type Page, type Viewer } from '#src/pages/kit/layout.ts'
import { historySection, type MeasuredHistory } from './charts.ts'

type Measured = {
  viewer: Viewer
  /** Whether the database could be measured; otherwise the figures are those of an earlier time. */
  isMeasured: boolean
}

export type OverviewView = Measured & {
  billing: {
    waiting: number
    dead: number
    /** Seconds; 0 without waiting or retrying events. */
    oldestWaiting: number
    oldestRetrying: number
    missed: number
  }
  /** What the last check of the ledger did not account for. */
  unaccounted: number
  history: MeasuredHistory
}

export type WorkView = Measured & {
  queues: readonly { queue: string; due: number; scheduled: number; oldestAge: number }[]
  /** The jobs of the app. */
  jobs: readonly AppJobFigures[]
  providers: readonly { label: string; isDown: boolean }[]
  processes: readonly RunningProcess[]
}

/** What this process has counted since it started. */
export type CountersView = {
  viewer: Viewer
  responses: readonly Counted[]
  signIns: readonly Counted[]
  refusals: readonly Counted[]
  attempts: readonly Counted[]
}

export type AppJobFigures = {
  job: string
  /** A cron expression; null if it runs when it is enqueued. */
  schedule: string | null
  due: number
  scheduled: number
  dead: number
  oldestAge: number
}

/** What was counted: its labels in words, and how often. */
export type Counted = { name: string; count: number }

const path = '/app/operations'
const tabLabels = {
  '': 'Overview',
  '/work': 'Queues and processes',
  '/counters': 'Counters',
} as const

function operationsTab(
  { viewer, isMeasured = true }: { viewer: Viewer; isMeasured?: boolean },
  tab: keyof typeof tabLabels,
  content: Html,
): Page {
  const items = Object.entries(tabLabels).map(([end, label]) => ({ href: path + end, label }))
  return layout(
    tab === '' ? 'Operations' : `Operations: ${tabLabels[tab].toLowerCase()}`,
    html`${pageHead({ title: 'Operations', lead: html`The figures behind <code>/metrics</code>. Only operators see this page.` })}
      ${tabs('Operations', items, path + tab)}
      ${isMeasured ? '' : html`<p class="notice fault" role="alert">The database could not be measured; these figures are older.</p>`}
      ${content}`,
    { current: path, ...viewer },
  )
}

/** What an operator looks at first: backlogs, and the last 24 hours. */
export function operationsPage(view: OverviewView): Page {
  return operationsTab(
    view,
    '',
    html`<section aria-labelledby="backlog">
        <h2 id="backlog">Backlog</h2>
        ${backlog(view)}
      </section>
      ${historySection(view.history)}`,
  )
}

/** Queues, jobs of the app, processes and identity providers. */
export function workPage(view: WorkView): Page {
  return operationsTab(
    view,
    '/work',
    html`<section class="card" aria-labelledby="queues">
        <h2 id="queues">Queues</h2>
        ${queueTable(view.queues)}
      </section>
      ${view.jobs.length === 0 ? '' : jobsSection(view.jobs)}
      <section class="card" aria-labelledby="processes">
        <h2 id="processes">Processes</h2>
        ${view.processes.length === 0 ? html`<p class="quiet">No process has announced itself yet.</p>` : table(processColumns, view.processes.map(processRow))}
      </section>
      <section class="card" aria-labelledby="providers">
        <h2 id="providers">Identity providers</h2>
        ${table(providerColumns, view.providers.map(providerRow))}
      </section>`,
  )
}

/** What this process has counted. */
export function countersPage(view: CountersView): Page {
  return operationsTab(
    view,
    '/counters',
    html`<section aria-labelledby="own">
        <h2 id="own">This web process since its start</h2>
        ${countSections(view)}
      </section>`,
  )
}

/** The figures; one sentence while nothing waits and nothing is wrong. */
function backlog(view: OverviewView): Html {
  const { waiting, dead, oldestRetrying, missed } = view.billing
  const isClear = [waiting, dead, oldestRetrying, missed, view.unaccounted].every((n) => n === 0)
  return isClear
    ? html`<p class="quiet">Nothing waits, is retried, has failed or is unaccounted for. <a href="/app/billing">View billing events</a></p>`
    : stats(backlogStats(view))
}

function backlogStats({ billing, unaccounted }: OverviewView): Stat[] {
  const { waiting, dead, oldestWaiting, oldestRetrying, missed } = billing
  const age = (seconds: number) => (seconds === 0 ? 'none' : `oldest ${ageText(seconds)}`)
  return [
    {
      label: 'Billing events waiting',
      value: numberText(waiting),
      note: age(oldestWaiting),
      href: '/app/billing?status=recorded',
      ...(oldestWaiting > 60 && { mood: 'warning' }),
    },
    {
      label: 'Retrying',
      value: oldestRetrying === 0 ? '0' : ageText(oldestRetrying),
      note: oldestRetrying === 0 ? 'none' : 'since the first failure',
      href: '/app/billing?status=failed',
      ...(oldestRetrying > 0 && { mood: 'warning' }),
    },
    {
      label: 'Dead events',
      value: numberText(dead),
      note: dead === 0 ? 'none' : 'replay or dismiss them',
      href: '/app/billing?status=dead',
      ...(dead > 0 && { mood: 'bad' }),
    },
    {
      label: 'Missed by webhooks',
      value: numberText(missed),
      note: 'found at the provider',
      ...(missed > 0 && { mood: 'warning' }),
    },
    {
      label: 'Unaccounted',
      value: numberText(unaccounted),
      note: 'of all events and deliveries',
      ...(unaccounted > 0 && { mood: 'bad' }),
    },
  ]
}

const queueColumns = [
  { label: 'Queue' },
  { label: 'Due', kind: 'number' },
  { label: 'Scheduled', kind: 'number' },
  { label: 'Oldest due', kind: 'number' },
] as const

/** Only the queues with jobs, and how many have none. */
function queueTable(queues: WorkView['queues']): Html {
  const busy = queues.filter(({ due, scheduled }) => due > 0 || scheduled > 0)
  const idle = queues.length - busy.length
  if (busy.length === 0) {
    return html`<p class="quiet">None of the ${numberText(queues.length)} queues has a job.</p>`
  }
  return html`${table(queueColumns, busy.map(queueRow))}
        ${idle === 0 ? '' : html`<p class="quiet small">${numberText(idle)} other queues are empty.</p>`}`
}

function queueRow({ queue, due, scheduled, oldestAge }: WorkView['queues'][number]): Cell[] {
  return [
    html`<code>${queue}</code>`,
    numberText(due),
    numberText(scheduled),
    oldestAge === 0 ? '–' : ageText(oldestAge),
  ]
}

const jobColumns = [
  { label: 'Job' },
  { label: 'Schedule (UTC)' },
  { label: 'Due', kind: 'number' },
  { label: 'Scheduled', kind: 'number' },
  { label: 'Oldest due', kind: 'number' },
  { label: 'Dead', kind: 'number' },
] as const

function jobsSection(jobs: WorkView['jobs']): Html {
  const rows = jobs.map(({ job, schedule, due, scheduled, oldestAge, dead }) => [
    html`<code>${job}</code>`,
    schedule === null
      ? html`<span class="quiet">When enqueued</span>`
      : html`<code>${schedule}</code>`,
    numberText(due),
    numberText(scheduled),
    oldestAge === 0 ? '–' : ageText(oldestAge),
    dead === 0 ? '0' : html`<span class="badge bad">${numberText(dead)}</span>`,
  ])
  return html`<section class="card" aria-labelledby="jobs">
        <h2 id="jobs">Jobs of the app</h2>
        ${table(jobColumns, rows)}
      </section>`
}

const processColumns = [
  { label: 'Role' },
  { label: 'Address', kind: 'wrap' },
  { label: 'Running since' },
  { label: 'Clock', kind: 'number' },
] as const

/** More than this is reported at start and by `gatehouse doctor` too. */
const wrongClockMs = 30_000

function processRow({ role, baseUrl, clockOffsetMs, startedAt }: RunningProcess): Cell[] {
  return [
    role,
    baseUrl ?? html`<span class="quiet">Unknown</span>`,
    timeText(startedAt),
    clockOffsetMs === null ? '–' : clockText(clockOffsetMs),
  ]
}

function clockText(offsetMs: number): Html {
  const text = `${offsetMs < 0 ? '−' : '+'}${durationText(Math.abs(offsetMs))}`
  return Math.abs(offsetMs) > wrongClockMs
    ? html`<span class="badge bad">${text}</span>`
    : html`${text}`
}

const providerColumns = [{ label: 'Provider' }, { label: 'State' }] as const

function providerRow({ label, isDown }: WorkView['providers'][number]): Cell[] {
  return [
    label,
    isDown
      ? html`<span class="badge bad">Not responding</span>`
      : html`<span class="badge good">Responding</span>`,
  ]
}

/** The counters that have counted something. */
function countSections({ responses, signIns, refusals, attempts }: CountersView): Html {
  const all = [
    ['responses', 'Responses', responses],
    ['sign-ins', 'Sign-ins', signIns],
    ['refusals', 'Refusals', refusals],
    ['attempts', 'Delivery attempts', attempts],
  ] as const
  const counted = all.filter(([, , counts]) => counts.length > 0)
  const none = all
    .filter(([, , counts]) => counts.length === 0)
    .map(([, title]) => title.toLowerCase())
  return html`${counted.length === 0 ? '' : html`<div class="columns">${counted.map(([id, title, counts]) => countSection(id, title, counts))}</div>`}
        ${none.length === 0 ? '' : html`<p class="quiet">Nothing counted yet: ${none.join(', ')}.</p>`}`
}

function countSection(id: string, title: string, counted: readonly Counted[]): Html {
  const rows = counted.map(({ name, count }) => [name, numberText(count)])
  const columns = [{ label: 'What' }, { label: 'Count', kind: 'number' }] as const
  return html`<section class="card" aria-labelledby="${id}">
            <h3 id="${id}">${title}</h3>
            ${table(columns, rows)}
          </section>`
}

const numbers = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 })

function numberText(value: number): string {
  return numbers.format(value)
}
