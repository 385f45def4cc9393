import { pageHead } from '#src/pages/kit/components.ts'
import { fieldsOf, fieldTable } from '#src/pages/kit/fields.ts'
import { copyable, type Html, html, isolated, table, withCodeSpans } from '#src/pages/kit/html.ts'
import { baseOf, layout, type Page, type Viewer } from '#src/pages/kit/layout.ts'
import type { AppEventType, AppTypeSummary } from '#src/webhooks/events/app-types.ts'
import { documentEvent, exampleEvent } from '#src/webhooks/events/describe.ts'
import { eventKindOf } from '#src/webhooks/events/kinds.ts'
import { type EventType, eventTypes } from '#src/webhooks/events/types.ts'

const columns = [
  { label: 'Type', kind: 'wrap' },
  { label: 'Description', kind: 'wrap' },
] as const

const title = 'Event types'

/** Every type of event that an endpoint can receive: the app's, then the program's. */
export function eventTypeListPage(viewer: Viewer, appTypes: readonly AppTypeSummary[]): Page {
  const path = `${baseOf(viewer)}/event-types`
  const linkTo = (name: string) =>
    html`<span class="type"><a href="${path}/${name}">${name}</a></span>`
  const rows = [
    ...appTypes.map(({ name, summary }) => [linkTo(name), isolated(summary)]),
    ...eventTypes.map((type) => [linkTo(type), summaryOf(type)]),
  ]
  return layout(
    title,
    html`${pageHead({ title, lead: 'Everything that an endpoint can subscribe to.' })}
      <section class="card" aria-label="${title}">
        <div class="compact">${table(columns, rows)}</div>
      </section>`,
    { current: currentOf(viewer), ...viewer },
  )
}

/** One type: what its events contain, and an example. @param type a type of the app, or the name of one of the program */
export function eventTypePage(viewer: Viewer, type: AppEventType | EventType): Page {
  const { name, description, fields, example } =
    typeof type === 'string' ? describeOwn(type) : describeApps(type)
  const base = baseOf(viewer)
  return layout(
    name,
    html`${pageHead({ trail: { href: `${base}/event-types`, label: title }, title: name, lead: description })}
      <section class="card" aria-labelledby="fields">
        <h2 id="fields">Fields</h2>
        ${fields}
      </section>
      <section class="card" aria-labelledby="example">
        <h2 id="example">Example</h2>
        ${
          example === null
            ? html`<p class="quiet">There is no example of this type.</p>`
            : copyable('event-example', 'Example', 'example', JSON.stringify(example, null, 2))
        }
      </section>
      <section class="card" aria-labelledby="events">
        <h2 id="events">Events</h2>
        <p><a href="${base}/events?type=${name}">Published events of this type</a></p>
      </section>`,
    { current: currentOf(viewer), ...viewer },
  )
}

type Description = { name: string; description: Html; fields: Html; example: unknown }

function describeOwn(type: EventType): Description {
  const { schema, example } = documentEvent(eventKindOf(type))
  const fields = fieldTable(fieldsOf(schema))
  return { name: type, description: summaryOf(type), fields, example }
}

/** The schema is shown as it was registered: it may use all of JSON Schema. */
function describeApps({ name, description, schema, example }: AppEventType): Description {
  const fields =
    schema === null
      ? html`<p><code>data</code> is any JSON object.</p>`
      : html`<p>JSON Schema of <code>data</code>:</p>${copyable('event-schema', 'Schema', 'example', JSON.stringify(schema, null, 2))}`
  return {
    ...{ name, description: isolated(description), fields },
    example: example && exampleEvent(name, example),
  }
}

function summaryOf(type: EventType): Html {
  return html`${withCodeSpans(eventKindOf(type).summary)}.`
}

/** The portal has an entry of its own in its navigation. */
function currentOf({ portal }: Viewer): string {
  return portal ? '/app/event-types' : '/app/events'
}
