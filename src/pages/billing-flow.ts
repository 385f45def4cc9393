import { type EventAge, type EventStatus, mostCounted } from '#src/billing/events.ts'
import { type Cell, type Html, html, table } from './html.ts'
import { ageText } from './operations.ts'

export type FlowCount = { status: EventStatus; events: number }

const width = 640
const rowHeight = 34
const received = { x: 8, width: 96 }
const outcome = { x: 300 }

/** Where the events that are still to be looked at stand out. */
const kinds: Readonly<Record<EventStatus, 'good' | 'bad' | 'warning' | 'none'>> = {
  recorded: 'none',
  processed: 'good',
  ignored: 'none',
  failed: 'warning',
  dead: 'bad',
  dismissed: 'none',
}

const names: Readonly<Record<EventStatus, string>> = {
  recorded: 'waiting',
  processed: 'processed',
  ignored: 'ignored',
  failed: 'failed, retried',
  dead: 'dead',
  dismissed: 'dismissed',
}

/** From received to what became of the events, with the age of the oldest that waits for something. */
export function billingFlow(counts: readonly FlowCount[], ages: readonly EventAge[]): Html {
  const total = counts.reduce((sum, { events }) => sum + events, 0)
  if (total === 0) {
    return html`<figure class="chart"><figcaption>From received to processed</figcaption><p class="quiet">No data: no event has been received.</p></figure>`
  }
  const height = counts.length * rowHeight + 8
  const middle = height / 2
  const rows = counts.map((count, index) => flowRow(count, total, ages, index, middle))
  const amount = amountText(total)
  return html`<figure class="chart flow">
          <figcaption id="flow">From received to processed</figcaption>
          <svg viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="flow">${rows}<rect class="first" x="${received.x}" y="${middle - 20}" width="${received.width}" height="40" rx="4"/><text class="inside" x="${received.x + received.width / 2}" y="${middle - 3}" text-anchor="middle">received</text><text class="inside" x="${received.x + received.width / 2}" y="${middle + 11}" text-anchor="middle">${amount}</text></svg>
          <details><summary>Show as a table</summary>${table(
            columns,
            counts.map((count) => tableRow(count, ages)),
          )}</details>
        </figure>`
}

function flowRow(
  { status, events }: FlowCount,
  total: number,
  ages: readonly EventAge[],
  index: number,
  middle: number,
): Html {
  const y = index * rowHeight + rowHeight / 2 + 4
  const from = received.x + received.width
  const bend = (from + outcome.x) / 2
  // Nothing has no line; the smallest share can still be seen.
  const stroke = events === 0 ? 0 : Math.max(1.5, Math.round((events / total) * 260) / 10)
  const line =
    stroke === 0
      ? html``
      : html`<path class="band ${kinds[status]}" stroke-width="${stroke}" d="M${from},${middle}C${bend},${middle} ${bend},${y} ${outcome.x},${y}"/>`
  const age = oldestText(status, ages)
  return html`<g><title>${`${names[status]}: ${amountText(events)}${age === null ? '' : `, oldest ${age}`}`}</title>${line}<text class="name" x="${outcome.x + 10}" y="${y + 4}">${amountText(events)} ${names[status]}${age === null ? '' : `, oldest ${age}`}</text></g>`
}

const columns = [
  { label: 'Status' },
  { label: 'Events', kind: 'number' },
  { label: 'Oldest', kind: 'number' },
] as const

function tableRow({ status, events }: FlowCount, ages: readonly EventAge[]): Cell[] {
  return [names[status], amountText(events), oldestText(status, ages) ?? '–']
}

function oldestText(status: EventStatus, ages: readonly EventAge[]): string | null {
  const seconds = ages.find((age) => age.status === status)?.seconds ?? null
  return seconds === null ? null : ageText(seconds)
}

/** Statuses are counted up to a limit, so that the page costs the same for any history. */
function amountText(events: number): string {
  const text = events.toLocaleString('en-GB')
  return events >= mostCounted ? `${text} or more` : text
}
