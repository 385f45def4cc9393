import type { Replay } from '#src/billing/replays.ts'
import { html } from '#src/pages/html.ts'
import { layout } from '#src/pages/layout.ts'
import type { Viewer } from '#src/pages/navigation.ts'
import { type Progress, progressBar, progressHead } from '#src/pages/progress.ts'
import { momentText } from '#src/pages/time.ts'

/** How far a replay has come, as its page and the script of it show it. */
export function progressOf({ total, succeeded, failed, finishedAt }: Replay): Progress {
  const isLast = finishedAt !== null
  const done = succeeded + failed
  // Without any event it is done as well.
  const max = Math.max(total, 1)
  const failures = failed === 0 ? '' : `, ${failed} failed again`
  const words = `${done} of ${total} events run again${failures}`
  return { value: isLast ? max : done, max, words: isLast ? `Done: ${words}.` : words, isLast }
}

/** A replay while it is worked on: its script follows it, without one the page loads anew. */
export function billingReplayPage(replay: Replay, viewer: Viewer): string {
  const progress = progressOf(replay)
  return layout(
    'Running again',
    html`<header class="head">
        <p class="trail"><a href="/app/billing">Billing events</a></p>
        <h1>Running again</h1>
        <p class="quiet">Asked for ${momentText(replay.createdAt)}. No event takes effect twice.</p>
      </header>
      <section class="card" aria-labelledby="progress">
        <h2 id="progress">Progress</h2>
        ${progressBar(progress, `/app/billing/replays/${replay.id}/events`)}
        <p class="quiet small">This page may be closed; the work goes on. When nothing moves, no worker is running.</p>
        <div class="row"><a class="button plain slim" href="/app/billing?status=dead">See the dead events</a></div>
      </section>`,
    { current: '/app/billing', ...viewer },
    progressHead(progress),
  )
}
