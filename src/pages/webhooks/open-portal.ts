import type { Theme } from '#src/http/headers/portal-cookie.ts'
import { html } from '#src/pages/kit/html.ts'
import { layout, type Page, type UnknownViewer } from '#src/pages/kit/layout.ts'

type Opening = { viewer: UnknownViewer; link: string; theme: Theme | undefined }

/** Where a link leads outside of a frame. Only the button opens it, which no scanner of links presses. */
export function openPortalPage({ viewer, link, theme }: Opening): Page {
  return layout(
    'Webhooks',
    html`<section class="card narrow">
        <h1>Webhooks</h1>
        <p class="quiet">The link works once.</p>
        <form method="post" action="/portal/open">
          <input type="hidden" name="link" value="${link}">
          ${theme === undefined ? '' : html`<input type="hidden" name="theme" value="${theme}">`}
          <button class="button">Open</button>
        </form>
      </section>`,
    viewer,
  )
}
