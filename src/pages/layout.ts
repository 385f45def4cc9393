import { type Html, html } from './html.ts'

/** The frame of every page: one column, one heading, no script. */
export function layout(title: string, main: Html): string {
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
    <header class="top"><a class="brand" href="/">Gatehouse</a></header>
    <main>
      ${main}
    </main>
  </body>
</html>
`.markup
}
