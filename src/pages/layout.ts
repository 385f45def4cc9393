import { type Html, html } from './html.ts'
import { type Navigation, navigation } from './navigation.ts'

/**
 * The frame of every page: one column, one heading, no script.
 * @param open which page it is, for somebody who is signed in
 */
export function layout(title: string, main: Html, open?: Navigation): string {
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title} · Gatehouse</title>
    <link rel="stylesheet" href="/assets/gatehouse.css">
  </head>
  <body>
    <a class="skip" href="#main">Skip to the content</a>
    <header class="top">
      <a class="brand" href="/">Gatehouse</a>
      ${open ? navigation(open) : ''}
    </header>
    <main id="main">
      ${main}
    </main>
  </body>
</html>
`.markup
}
