import { type Html, html } from './html.ts'

/** How far something has come, as its page and the script of it show it. */
export type Progress = { value: number; max: number; words: string; isLast: boolean }

/**
 * A bar that a script follows by server-sent events until the last one.
 * @param events where they are
 */
export function progressBar({ value, max, words, isLast }: Progress, events: string): Html {
  return html`<div class="progress"${isLast ? '' : html` data-follow="${events}"`}>
          <progress aria-labelledby="progress" max="${max}" value="${value}"></progress>
          <p role="status">${words}</p>
        </div>`
}

/** What the page needs in its head; without scripts it loads anew. Nothing once all is done. */
export function progressHead({ isLast }: Progress): Html | undefined {
  return isLast ? undefined : following
}

const following: Html = html`<noscript><meta http-equiv="refresh" content="2"></noscript>
    <script src="/assets/replay-progress.js" defer></script>`
