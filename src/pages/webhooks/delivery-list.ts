import { type Html, html } from '#src/pages/html.ts'
import { table } from '#src/pages/table.ts'
import { momentText } from '#src/pages/time.ts'
import { type Delivery, deliveryStatuses } from '#src/webhooks/delivery/deliveries.ts'
import { eventTypes } from '#src/webhooks/events/types.ts'
import { deliveryBadge, deliveryLabels } from './badges.ts'

export type DeliveryFilter = { status: string; eventType: string }

export type DeliveryPage = {
  data: readonly Delivery[]
  nextCursor: string | null
  filter: DeliveryFilter
  /** Whether this is not the newest page. */
  isLater: boolean
}

/** What was sent to an endpoint, newest first, a page at a time. */
export function deliverySection(endpointId: string, page: DeliveryPage): Html {
  const path = `/app/webhooks/${endpointId}`
  const filtered = page.filter.status !== '' || page.filter.eventType !== ''
  const none = filtered
    ? html`None is like that. <a href="${path}#deliveries">Show all</a>`
    : html`Nothing was sent to it yet. Send it a test above.`
  return html`<section class="card" aria-labelledby="deliveries">
        <h2 id="deliveries">Deliveries</h2>
        ${filterForm(path, page.filter)}
        ${page.data.length === 0 ? html`<p class="quiet">${none}</p>` : table(columns, page.data.map(deliveryRow))}
        <nav class="row" aria-label="Pages of deliveries">
          ${page.isLater ? html`<a href="${linkTo(path, page.filter)}">Newest</a>` : ''}
          ${page.nextCursor === null ? '' : html`<a href="${linkTo(path, page.filter, page.nextCursor)}" rel="next">Older</a>`}
        </nav>
      </section>`
}

function filterForm(path: string, { status, eventType }: DeliveryFilter): Html {
  const statuses = deliveryStatuses.map((value) => option(value, deliveryLabels[value], status))
  const kinds = eventTypes.map((value) => option(value, value, eventType))
  return html`<form class="inline filter" method="get" action="${path}#deliveries">
          <select name="status" aria-label="Status">${option('', 'every status', status)}${statuses}</select>
          <select name="eventType" aria-label="Kind">${option('', 'every kind', eventType)}${kinds}</select>
          <button class="button plain slim">Show</button>
        </form>`
}

function option(value: string, label: string, chosen: string): Html {
  return html`<option value="${value}"${value === chosen ? html` selected` : ''}>${label}</option>`
}

const columns = [
  { label: 'Event' },
  { label: 'Status' },
  { label: 'Outcome', kind: 'wrap' },
] as const

function deliveryRow(delivery: Delivery): Html[] {
  const { id, eventType, status, createdAt, attempts } = delivery
  return [
    html`<a href="/app/deliveries/${id}">${eventType}</a><br><span class="quiet">${momentText(createdAt)}</span>`,
    html`${deliveryBadge(status)}<br><span class="quiet whole">${countText(attempts.length)}</span>`,
    comingText(delivery),
  ]
}

function countText(count: number): string {
  return count === 1 ? '1 attempt' : `${count} attempts`
}

/** The last failure in words and the next attempt, as far as there are any. */
function comingText({ attempts, status, nextAttemptAt }: Delivery): Html {
  const failure = attempts.at(-1)?.explanation ?? null
  const said =
    failure ?? (status === 'succeeded' ? 'It was received.' : 'It waits for its attempt.')
  return html`${said}${
    nextAttemptAt === null
      ? ''
      : html`<br><span class="quiet">Next attempt ${momentText(nextAttemptAt)}</span>`
  }`
}

function linkTo(path: string, { status, eventType }: DeliveryFilter, cursor?: string): string {
  const query = new URLSearchParams({ status, eventType, ...(cursor && { cursor }) })
  return `${path}?${query}#deliveries`
}
