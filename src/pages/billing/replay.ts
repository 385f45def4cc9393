import type { Replay } from '#src/billing/replays.ts'
import { type Html, html } from '../html.ts'
import { layout } from '../layout.ts'

/**
 * How far a replay has come; the page asks again by itself while it runs.
 * @param refresh false for a reader whom a page that reloads disturbs
 */
export function billingReplayPage(replay: Replay, role: string | null, refresh: boolean): string {
  const { id, total, succeeded, failed, finishedAt } = replay
  const running = finishedAt === null
  return layout(
    running ? 'Replay runs' : 'Replay done',
    html`<header class="head">
        <p class="quiet"><a href="/app/billing">Billing events</a></p>
        <h1>${running ? 'Replay runs' : 'Replay done'}</h1>
      </header>
      <section class="card" aria-labelledby="progress">
        <h2 id="progress">${succeeded + failed} of ${total} events</h2>
        <progress aria-labelledby="progress" max="${Math.max(total, 1)}" value="${running ? succeeded + failed : Math.max(total, 1)}"></progress>
        <dl class="facts">
          <div><dt>Went well</dt><dd>${succeeded}</dd></div>
          <div><dt>Failed again</dt><dd>${failed}</dd></div>
        </dl>
        ${running ? waiting(id, refresh) : conclusion(failed)}
      </section>`,
    { current: '/app/billing', role, operator: true },
    running && refresh ? html`<meta http-equiv="refresh" content="2">` : html``,
  )
}

function waiting(id: string, refresh: boolean): Html {
  return html`<p class="row quiet">The replay goes on without this page. When nothing moves, no worker is running.</p>
        ${
          refresh
            ? html`<a href="/app/billing/replays/${id}?refresh=off">Stop reloading this page</a>`
            : html`<a href="/app/billing/replays/${id}">Look again</a>`
        }`
}

function conclusion(failed: number): Html {
  if (failed === 0) return html`<p class="row">Every event went well.</p>`
  return html`<p class="row"><a href="/app/billing?status=dead">See why they failed</a></p>`
}
