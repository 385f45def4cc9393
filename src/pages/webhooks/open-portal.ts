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

/**
 * Says that a link cannot be opened, and leads back.
 * @param hasSession the browser has opened a link before
 * @param frameOrigins of pages that show the portal: a single one is the app
 */
export function usedPortalPage(
  viewer: UnknownViewer,
  hasSession: boolean,
  frameOrigins: readonly string[],
): Page {
  const [app, ...others] = frameOrigins
  const back = hasSession
    ? html`<a class="button" href="/portal/webhooks">Back to the webhooks</a>`
    : app !== undefined && others.length === 0
      ? html`<a class="button" href="${app}">Back to ${new URL(app).host}</a>`
      : ''
  return layout(
    'Link used',
    html`<section class="card narrow">
        <h1>This link was used already, or has expired</h1>
        <p>A link works once, within five minutes. Open it again from the app that led you here.</p>
        ${back}
      </section>`,
    viewer,
  )
}
