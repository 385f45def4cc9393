import { type Html, html } from './html.ts'

/** What was just done, as `?done=…` says it; nothing for what is none of the sentences. */
export function noticeText(
  sentences: Readonly<Record<string, string>>,
  done: string | undefined,
): Html {
  const known = Object.entries(sentences).find(([name]) => name === done)
  return known === undefined ? html`` : html`<p class="notice" role="status">${known[1]}</p>`
}

/** Why what was asked for was not done. */
export function faultText(fault: string | null): Html {
  return fault === null ? html`` : html`<p class="notice fault" role="alert">${fault}</p>`
}
