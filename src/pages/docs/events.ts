import { eventKinds } from '#src/domain/events.ts'
import { exampleOf, type Schema } from '#src/http/openapi/examples.ts'
import { pageHead } from '#src/pages/kit/components.ts'
import { type Html, html, withCodeSpans } from '#src/pages/kit/html.ts'
import { layout, type Page } from '#src/pages/kit/layout.ts'
import { eventSchema } from '#src/webhooks/events/describe.ts'
import { type EventType, eventTypes } from '#src/webhooks/events/types.ts'
import { fieldsOf, fieldTable } from './reference.ts'

/** Every kind of event that is sent: when, its fields and an example. */
export function eventsPage(): Page {
  return layout(
    'Events',
    html`${pageHead({ title: 'Events', lead: html`What is sent to the webhook endpoints of a tenant, and listed by <code>GET /events</code>. Schemas: <code>webhooks</code> in the <a href="/openapi.json">API description</a>.` })}
      <nav class="card topics" aria-label="Types">${eventTypes.map((type) => html`<a href="#${type}">${type}</a>`)}</nav>
      ${eventTypes.map(eventSection)}
      <p><a href="/docs">API reference</a></p>`,
  )
}

function eventSection(type: EventType): Html {
  const schema: Schema = JSON.parse(JSON.stringify(eventSchema(eventKinds[type])))
  return html`<section class="card" aria-labelledby="${type}">
        <h2 id="${type}" class="topic">${type}</h2>
        <p>${withCodeSpans(eventKinds[type].summary)}.</p>
        ${fieldTable(fieldsOf(schema))}
        <pre class="example" tabindex="0" aria-label="Example">${JSON.stringify(exampleOf(schema), null, 2)}</pre>
      </section>`
}
