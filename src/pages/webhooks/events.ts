import type { Count } from '#src/http/lists/pagination.ts'
import { pageHead } from '#src/pages/kit/components.ts'
import { filtersOf, isFiltered, type ListQuery, type Used } from '#src/pages/kit/filters.ts'
import { deliveryBadge } from '#src/pages/kit/health.ts'
import {
  copyable,
  copyButton,
  dueText,
  type Html,
  html,
  indentJson,
  isolated,
  momentText,
  table,
} from '#src/pages/kit/html.ts'
import { baseOf, layout, type Page, type Viewer } from '#src/pages/kit/layout.ts'
import { countText, listTable, type ShownList } from '#src/pages/kit/list.ts'
import { pagePathOf } from '#src/resources/kit/names.ts'
import { resources } from '#src/resources/running-app.ts'
import { type ListedEvent, type RecentEvent, searchedEvents } from '#src/webhooks/events/feed.ts'
import { eventTypes } from '#src/webhooks/events/types.ts'
import type { Delivery, DeliveryCount } from '#src/webhooks/history/deliveries.ts'
import { deliveryCounts } from './badges.ts'

export type EventListView = {
  viewer: Viewer
  events: readonly ListedEvent[]
  /** How many deliveries of an event are in which state, by its id. */
  deliveries: ReadonlyMap<string, readonly DeliveryCount[]>
  cursors: Pick<ShownList, 'nextCursor' | 'previousCursor'>
  count: Count
  query: ListQuery
  used: Used
  /** Types of events that the app has registered. */
  appTypes: readonly string[]
}

const columns = [
  { label: 'Event', kind: 'wrap' },
  { label: 'Object' },
  { label: 'Deliveries' },
  { label: 'ID' },
  { label: 'Published' },
] as const

/** The events of the tenant, newest first. */
export function eventListPage(view: EventListView): Page {
  const { viewer, events, deliveries, cursors, count, query, used, appTypes } = view
  const path = `${baseOf(viewer)}/events`
  const rows = events.map(({ id, type, createdAt, objectId }) => [
    html`<a href="${path}/${id}">${type}</a>`,
    objectText(viewer, type, objectId),
    deliveryCounts(deliveries.get(id) ?? []),
    html`<code class="quiet clip" id="id-${id}" title="${id}">${id}</code> ${copyButton(`id-${id}`, `Copy ${id}`)}`,
    momentText(createdAt),
  ])
  const types = [...eventTypes, ...appTypes].map((value) => ({ value, label: value }))
  const looks = {
    search: { label: 'ID of an event or object' },
    type: { label: 'Type', all: 'All types', options: types },
    created: { label: 'Published' },
  }
  const among =
    used.search === undefined
      ? ''
      : ` Objects are searched in the newest ${searchedEvents.toLocaleString('en-GB')} events.`
  const empty = isFiltered(used)
    ? html`<p>No matching events.${among} <a href="${path}">Show all events</a></p>`
    : html`<p>No events yet. Changing an order or a post publishes one.</p>`
  return layout(
    'Events',
    html`${pageHead({ title: 'Events', lead: html`Everything that was published, whether an endpoint received it or not. Programs read the same from <code>GET /events</code>. ${countText(count) ?? ''} <a href="${baseOf(viewer)}/event-types">What each type contains</a>` })}
      <section class="card" aria-label="Events">
        ${filtersOf({ path, query, used, looks })}
        <div class="compact">${listTable(columns, rows, { path, filter: used, ...cursors }, empty)}</div>
      </section>`,
    { current: '/app/events', ...viewer },
  )
}

/** What an event is about, with a link if its page is for everyone in the tenant; the portal has no such pages. */
function objectText({ portal }: Viewer, type: string, id: string | null): Html {
  if (id === null) return html`<span class="quiet">None</span>`
  const [kind = '', what] = type.split('.')
  const resource = resources.find(({ name }) => name === kind)
  const label = `${kind.charAt(0).toUpperCase()}${kind.slice(1).replaceAll('_', ' ')} ${id}`
  const hasPage = !portal && resource?.scope === 'tenant' && what !== 'deleted' && /^\d+$/.test(id)
  return hasPage
    ? html`<a href="${pagePathOf(resource)}/${id}">${label}</a>`
    : html`${isolated(label)}`
}

export type EventView = {
  viewer: Viewer
  event: RecentEvent & { body: string; cause: string | null }
  deliveries: readonly (Delivery & { url: string })[]
}

/** One event: what caused it, its body and its deliveries. */
export function eventPage({ viewer, event, deliveries }: EventView): Page {
  const base = baseOf(viewer)
  return layout(
    'Event',
    html`${pageHead({ trail: { href: `${base}/events`, label: 'Events' }, title: event.type })}
      <section class="card" aria-labelledby="facts">
        <h2 id="facts">Overview</h2>
        <dl class="facts">
          <div><dt>Event ID</dt><dd class="wrap"><code id="event-id">${event.id}</code> ${copyButton('event-id', 'Copy event ID')}</dd></div>
          <div><dt>Published</dt><dd>${momentText(event.createdAt)}</dd></div>
          ${event.cause === null ? '' : html`<div><dt>Caused by</dt><dd class="wrap">${causeText(event.cause)}</dd></div>`}
        </dl>
      </section>
      <section class="card" aria-labelledby="deliveries">
        <h2 id="deliveries">Deliveries</h2>
        ${
          deliveries.length === 0
            ? html`<p class="quiet">No endpoint was subscribed to this event when it was published.</p>`
            : table(
                deliveryColumns,
                deliveries.map((delivery) => deliveryRow(delivery, base)),
              )
        }
      </section>
      <section class="card" aria-labelledby="body">
        <h2 id="body">Body</h2>
        ${copyable('event-body', 'Event body', 'excerpt', indentJson(event.body))}
      </section>`,
    { current: '/app/events', ...viewer },
  )
}

/** @param cause `request:ID` or `billing-event:ID` */
function causeText(cause: string): Html {
  const [kind = '', ...id] = cause.split(':')
  const words = kind === 'request' ? 'Request' : kind === 'billing-event' ? 'Billing event' : kind
  return html`${words} <code>${id.join(':')}</code>`
}

const deliveryColumns = [
  { label: 'Endpoint', kind: 'wrap' },
  { label: 'Status' },
  { label: 'HTTP', kind: 'number' },
  { label: 'Attempts', kind: 'number' },
  { label: 'Next attempt' },
] as const

function deliveryRow(
  { id, url, health, attempts, nextAttemptAt }: EventView['deliveries'][number],
  base: string,
) {
  const last = attempts.at(-1)
  return [
    html`<a href="${base}/deliveries/${id}">${isolated(url)}</a>`,
    deliveryBadge(health),
    last === undefined ? '–' : (last.statusCode ?? 'none'),
    attempts.length,
    nextAttemptAt === null ? '' : dueText(nextAttemptAt),
  ]
}
