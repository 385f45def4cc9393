import { html } from '#src/pages/html.ts'
import { layout } from '#src/pages/layout.ts'
import type { Viewer } from '#src/pages/navigation.ts'
import { type Progress, progressBar, progressHead } from '#src/pages/progress.ts'
import { timeText } from '#src/pages/time.ts'
import type { EndpointReplay } from '#src/webhooks/delivery/replays.ts'
import { deliveryLabels } from './badges.ts'

/** How far a replay has come, as its page and the script of it show it. Null: it was removed. */
export function progressOf(replay: EndpointReplay | null): Progress {
  if (replay === null) return { value: 1, max: 1, words: 'The endpoint was removed.', isLast: true }
  const { done, total, finishedAt } = replay
  const isLast = finishedAt !== null
  // An empty range is done as well.
  const max = Math.max(total, 1)
  const words = `${done} of ${total} put on their way`
  return { value: isLast ? max : done, max, words: isLast ? `Done: ${words}.` : words, isLast }
}

/** A replay while it is worked on: its script follows it, without one the page loads anew. */
export function replayPage(viewer: Viewer, replay: EndpointReplay): string {
  const endpoint = `/app/webhooks/${replay.endpointId}`
  const progress = progressOf(replay)
  return layout(
    'Sending again',
    html`<header class="head">
        <p class="trail"><a href="/app/webhooks">Webhooks</a> / <a href="${endpoint}">The endpoint</a></p>
        <h1>Sending again</h1>
        <p class="quiet">Deliveries made from ${timeText(replay.from)} to ${timeText(replay.to)}, ${
          replay.status === null ? 'in every state' : deliveryLabels[replay.status].toLowerCase()
        }.</p>
      </header>
      <section class="card" aria-labelledby="progress">
        <h2 id="progress">Progress</h2>
        ${progressBar(progress, `${endpoint}/replays/${replay.id}/events`)}
        <p class="quiet small">Each is attempted by the schedule from its first attempt on. This page may be closed; the work goes on.</p>
        <div class="row"><a class="button plain slim" href="${endpoint}#deliveries">See the deliveries</a></div>
      </section>`,
    { current: '/app/webhooks', ...viewer },
    progressHead(progress),
  )
}
