import { pageHead } from '#src/pages/kit/components.ts'
import { fieldsOf, fieldTable } from '#src/pages/kit/fields.ts'
import { type Html, html, withCodeSpans } from '#src/pages/kit/html.ts'
import type { Page } from '#src/pages/kit/layout.ts'
import { documentEvent } from '#src/webhooks/events/describe.ts'
import { eventKindOf } from '#src/webhooks/events/kinds.ts'
import { type EventType, eventTypes } from '#src/webhooks/events/types.ts'
import { docsLayout } from './frame.ts'
import type { Group } from './operations.ts'

/** Every kind of event that is sent: when, its fields and an example. */
export function eventsPage(groups: readonly Group[]): Page {
  return docsLayout(groups, {
    title: 'Event types',
    current: '/docs/events',
    main: html`${pageHead({ title: 'Event types', lead: html`What is sent to the webhook endpoints of a tenant, and listed by <a href="/docs/api/events#listEvents"><code>GET /events</code></a>. A receiver <a href="/docs/guide#webhooks">verifies the signature</a> first.` })}
      <nav class="card topics" aria-label="Types">${eventTypes.map((type) => html`<a href="#${type}">${type}</a>`)}</nav>
      ${eventTypes.map(eventSection)}`,
  })
}

function eventSection(type: EventType): Html {
  const { schema, example } = documentEvent(eventKindOf(type))
  return html`<section class="card" aria-labelledby="${type}">
        <h2 id="${type}">${type}</h2>
        <p class="passage">${withCodeSpans(eventKindOf(type).summary)}.</p>
        ${fieldTable(fieldsOf(schema))}
        <pre class="example" tabindex="0" aria-label="Example">${JSON.stringify(example, null, 2)}</pre>
      </section>`
}
