import { type Html, html } from './html.ts'

const format = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'short',
  timeZone: 'UTC',
})

/** A time as a person reads it, in UTC, with the exact one for programs. @param at RFC 3339 */
export function timeText(at: string | null): Html {
  if (at === null) return html`<span class="quiet">never</span>`
  return html`<time datetime="${at}">${format.format(new Date(at))} UTC</time>`
}
