import { type EventAge, type EventStatus, mostCounted } from '#src/billing/events.ts'
import type { BadgeMood } from '#src/pages/kit/components.ts'
import { ageText, type Cell, type Html, html, table } from '#src/pages/kit/html.ts'

export type FlowCount = { status: EventStatus; events: number }

// Units of the drawing. Its width is stretched; its height is that of the list beside it.
const width = 100
const rowHeight = 30

/** The colour of each status; the statuses that need an operator stand out. */
const kinds: Readonly<Record<EventStatus, BadgeMood>> = {
  recorded: 'plainly',
  processed: 'good',
  ignored: 'plainly',
  unlinked: 'warning',
  failed: 'warning',
  dead: 'bad',
  dismissed: 'plainly',
}

const names: Readonly<Record<EventStatus, string>> = {
  recorded: 'waiting',
  processed: 'processed',
  ignored: 'ignored',
  unlinked: 'unlinked',
  failed: 'failed',
  dead: 'dead',
  dismissed: 'dismissed',
}

/** From received to what became of the events, with the age of the oldest that waits for something. */
export function billingFlow(counts: readonly FlowCount[], ages: readonly EventAge[]): Html {
  const total = counts.reduce((sum, { events }) => sum + events, 0)
  if (total === 0) {
    return html`<figure class="chart"><figcaption>From received to processed</figcaption><p class="quiet">No data: no event has been received.</p></figure>`
  }
  const height = counts.length * rowHeight
  const bands = counts.map((count, index) => band(count, total, index, height / 2))
  return html`<figure class="chart flow">
          <figcaption>From received to processed</figcaption>
          <div class="bands">
            <p><strong>${amountText(total)}</strong> received</p>
            <svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" aria-hidden="true">${bands}</svg>
            <ul>${counts.map((count) => outcomeItem(count, ages))}</ul>
          </div>
          <details><summary>Show as a table</summary>${table(
            columns,
            counts.map((count) => tableRow(count, ages)),
          )}</details>
        </figure>`
}

/** Nothing has no band; the smallest share can still be seen. */
function band({ status, events }: FlowCount, total: number, index: number, middle: number): Html {
  if (events === 0) return html``
  const y = (index + 0.5) * rowHeight
  const stroke = Math.max(2, Math.round((events / total) * 240) / 10)
  return html`<path class="band ${kinds[status]}" stroke-width="${stroke}" d="M0,${middle}C${width / 2},${middle} ${width / 2},${y} ${width},${y}"/>`
}

/** A count that leads to its events. */
function outcomeItem({ status, events }: FlowCount, ages: readonly EventAge[]): Html {
  const amount = amountText(events)
  const age = oldestText(status, ages)
  return html`<li><a href="/app/billing?status=${status}" aria-label="${amount} ${status}">${amount}</a> <span class="badge ${kinds[status]}">${names[status]}</span>${age === null ? '' : html` <span class="quiet">oldest ${age}</span>`}</li>`
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
