import { type Html, html } from './html.ts'

/** Progress of a long-running job, as its page shows it and its event stream sends it. */
export type Progress = { value: number; max: number; words: string; isLast: boolean }

/**
 * A progress bar. The page's script updates it from server-sent events.
 * @param events path of the event stream
 */
export function progressBar({ value, max, words, isLast }: Progress, events: string): Html {
  return html`<div class="progress"${isLast ? '' : html` data-follow="${events}"`}>
          <progress aria-labelledby="progress" max="${max}" value="${value}"></progress>
          <p role="status">${words}</p>
        </div>`
}

/** Without scripts the page reloads. Undefined once the job is done. */
export function progressHead({ isLast }: Progress): Html | undefined {
  return isLast ? undefined : html`<noscript><meta http-equiv="refresh" content="2"></noscript>`
}
