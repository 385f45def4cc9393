import type { EventStatus } from '#src/billing/events.ts'
import { type Html, html } from '#src/pages/html.ts'

const states: Readonly<Record<EventStatus, { mood: string; means: string }>> = {
  recorded: { mood: 'plainly', means: 'It waits for its turn.' },
  processed: { mood: 'good', means: 'It was worked on.' },
  ignored: { mood: 'plainly', means: 'Its type is not one that is worked on.' },
  failed: { mood: 'warning', means: 'It failed and will be tried again.' },
  dead: { mood: 'bad', means: 'It failed for good. Mend the cause, then replay it.' },
}
const outcomes: Readonly<Record<string, string>> = {
  processed: 'It was worked on.',
  stale: 'Nothing was changed: a newer state of the object was applied before.',
  gone: 'Nothing was changed: the provider no longer has the object.',
}

/** A state as a small label. */
export function statusBadge(status: EventStatus): Html {
  return html`<span class="badge ${states[status].mood}">${status}</span>`
}

/** What became of an event, in a sentence. */
export function meaningOf(event: { status: EventStatus; outcome: string | null }): string {
  return outcomes[event.outcome ?? ''] ?? states[event.status].means
}

/** Why the last attempt failed, as a sentence; what the worker noted begins without a capital. */
export function errorText(lastError: string): string {
  const sentence = lastError.charAt(0).toUpperCase() + lastError.slice(1)
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`
}
