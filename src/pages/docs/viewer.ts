import type { Brand } from '#src/config/brand.ts'
import { brandPaths } from '#src/pages/kit/asset-path.ts'
import { html } from '#src/pages/kit/html.ts'

/** The pages beside the reference, in the order of their links. */
export const docPages = [
  { path: '/docs', title: 'Reference' },
  { path: '/docs/guide', title: 'Guide' },
  { path: '/docs/events', title: 'Events' },
  { path: '/docs/errors', title: 'Errors' },
  { path: '/docs/changelog', title: 'Changelog' },
  { path: '/docs/plain', title: 'Plain reference' },
  { path: '/openapi.json', title: 'OpenAPI' },
] as const

/**
 * The reference in Scalar's viewer, which reads the API description. Its style sheet is linked, because
 * our policy allows no inline styles. A browser without scripts goes on to the plain page.
 */
export function viewerPage(brand: Brand): string {
  const { name } = brand
  const { logo } = brandPaths(brand)
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>API reference · ${name}</title>
    <link rel="icon" href="${logo ?? '/assets/icon.svg'}">
    <link rel="stylesheet" href="/docs/assets/scalar.css">
    <link rel="stylesheet" href="/docs/assets/viewer.css">
    <noscript><meta http-equiv="refresh" content="0; url=/docs/plain"></noscript>
  </head>
  <body>
    <nav class="docs-bar" aria-label="Documentation">
      <a class="brand" href="/">${name}</a>
      ${docPages.map(({ path, title }) => html`<a href="${path}">${title}</a>`)}
    </nav>
    <div id="reference"><noscript><a href="/docs/plain">The reference without scripts</a></noscript></div>
    <script src="/docs/assets/scalar.js"></script>
    <script src="/docs/assets/viewer.js"></script>
  </body>
</html>
`.markup
}
