import { onFirstUse } from '#src/on-first-use.ts'
import { type Html, html } from './html.ts'

const toMinute = onFirstUse(() => formatOf('short'))
const toSecond = onFirstUse(() => formatOf('medium'))

/** A time as a person reads it, in UTC, with the exact one for programs. @param at RFC 3339 */
export function timeText(at: string | null): Html {
  if (at === null) return html`<span class="quiet">never</span>`
  return html`<time datetime="${at}">${toMinute().format(new Date(at))} UTC</time>`
}

/** The same to the second, where times close to each other are told apart. */
export function momentText(at: string): Html {
  return html`<time datetime="${at}">${toSecond().format(new Date(at))} UTC</time>`
}

/** A length of time as a person reads it. */
export function durationText(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`
}

function formatOf(timeStyle: 'short' | 'medium'): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle, timeZone: 'UTC' })
}
