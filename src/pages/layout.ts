import { type Html, html } from './html.ts'
import { type Navigation, navigation } from './navigation.ts'

/**
 * The frame of every page: one column, one heading.
 * @param open which page it is, for somebody who is signed in
 * @param head what else the page needs: hardly any has a script
 */
export function layout(title: string, main: Html, open?: Navigation, head?: Html): string {
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title} · Gatehouse</title>
    <link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="/assets/gatehouse.css">
    ${head ?? ''}
  </head>
  <body>
    <a class="skip" href="#main">Skip to the content</a>
    <header class="top">
      <div class="bar">
        <a class="brand" href="/">Gatehouse</a>
        ${open ? navigation(open) : ''}
        ${open ? signOutButton : ''}
      </div>
    </header>
    <main id="main">
      ${main}
    </main>
    <footer class="foot"><a href="/docs">API reference</a></footer>
  </body>
</html>
`.markup
}

const signOutButton = html`<form class="leave" method="post" action="/auth/logout"><button class="button plain slim">Sign out</button></form>`
