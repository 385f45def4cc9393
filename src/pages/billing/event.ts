import type { ReceivedEvent } from '#src/billing/events.ts'
import { type Html, html } from '#src/pages/html.ts'
import { layout } from '#src/pages/layout.ts'
import type { Viewer } from '#src/pages/navigation.ts'
import { momentText } from '#src/pages/time.ts'
import { errorText, meaningOf, statusBadge } from './words.ts'

const shownCharacters = 20_000

/** One received event with its raw body and a button to run it again. */
export function billingEventPage(
  event: ReceivedEvent & { body: string | null },
  viewer: Viewer,
): string {
  const { id, type, status, attempts, lastError, processedAt, otherBodies, body } = event
  return layout(
    `Event ${id}`,
    html`<header class="head">
        <p class="trail"><a href="/app/billing">Billing events</a></p>
        <h1 class="wrap">${id}</h1>
        <p class="quiet">${type}</p>
      </header>
      <section class="card" aria-labelledby="became">
        <h2 id="became">What became of it ${statusBadge(status)}</h2>
        <p>${meaningOf(event)}</p>
        ${lastError === null ? '' : html`<p class="fault wrap">${errorText(lastError)}</p>`}
        ${otherBodies === 0 ? '' : otherBodiesText(otherBodies)}
        <dl class="facts">
          <div><dt>Received</dt><dd>${momentText(event.receivedAt)}</dd></div>
          <div><dt>Worked on</dt><dd>${processedAt === null ? 'not yet' : momentText(processedAt)}</dd></div>
          <div><dt>Attempts</dt><dd>${attempts}</dd></div>
        </dl>
        ${body === null ? '' : replayForm(id)}
      </section>
      <section class="card" aria-labelledby="body">
        <h2 id="body">Body</h2>
        ${body === null ? html`<p class="quiet">It is no longer kept, so the event cannot be run again.</p>` : bodyText(body)}
      </section>`,
    { current: '/app/billing', ...viewer },
  )
}

function replayForm(id: string): Html {
  return html`<form class="row" method="post" action="/app/billing/${encodeURIComponent(id)}/replay"><button class="button">Replay it</button></form>`
}

function otherBodiesText(otherBodies: number): Html {
  const copies = otherBodies === 1 ? 'One copy' : `${otherBodies} copies`
  return html`<p class="fault">${copies} of this id came with another body. The first body stayed.</p>`
}

function bodyText(body: string): Html {
  const cut = body.length > shownCharacters
  const shown = cut ? body.slice(0, shownCharacters) : laidOut(body)
  const total = body.length.toLocaleString('en')
  return html`<pre class="excerpt" tabindex="0" aria-labelledby="body">${shown}</pre>
        ${cut ? html`<p class="quiet small">The first ${shownCharacters.toLocaleString('en')} of ${total} characters.</p>` : ''}`
}

const blankOutsideOfTexts = /("(?:[^"\\]|\\.)*")|\s+/g

/** JSON with a line for each field, where that changes nothing but blanks; else as received. */
export function laidOut(body: string): string {
  try {
    const value: unknown = JSON.parse(body)
    // A number beyond 2^53 or a field that comes twice would not survive being read.
    const faithful = JSON.stringify(value) === body.replaceAll(blankOutsideOfTexts, '$1')
    return faithful ? JSON.stringify(value, null, 2) : body
  } catch {
    return body
  }
}
