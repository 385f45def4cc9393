import type { Person } from '#src/commands/development/sample/people.ts'
import { avatar } from '#src/pages/kit/avatar.ts'
import { badge } from '#src/pages/kit/components.ts'
import { type Html, html, trusted } from '#src/pages/kit/html.ts'
import { icon } from '#src/pages/kit/icon.ts'

/** `client` is the host of the application; `current` the subject of the provider's session. */
export type Picker = {
  action: string
  client: string
  people: readonly Person[]
  current: string | undefined
}

/** The sign-in page: a list of people. */
export function pickerPage({ action, client, people, current }: Picker): string {
  const entries = people.map((person) => entry(person, person.subject === current))
  return page(
    'Choose who to sign in as',
    html`<p class="quiet">You are signing in to <strong>${client}</strong>. You need no password:
these people exist only on this machine.</p>
<form method="post" action="${action}">
<ul class="people">
${entries}
</ul>
<button class="button plain cancel" name="cancel" value="yes">Cancel and go back</button>
</form>`,
  )
}

function entry({ subject, name, email, note }: Person, isCurrent: boolean): Html {
  const mark = isCurrent ? html` ${badge('Signed in')}` : ''
  return html`<li><button class="account" name="subject" value="${subject}">
${avatar(name)}
<span class="account-text"><span class="account-name">${name}${mark}</span> <span class="quiet">${email}</span>
<span class="quiet">${note}</span></span>
</button></li>`
}

/** @param form the library's form `op.logoutForm`, with its CSRF token */
export function signOutPage(form: string): string {
  return page(
    'Sign out here as well?',
    html`<p class="quiet">You have signed out of the application. You are still signed in to the
demo’s identity provider.</p>
${trusted(form)}
<p class="row"><button class="button" form="op.logoutForm" name="logout" value="yes" autofocus>
Sign out</button> <button class="button plain" form="op.logoutForm">Stay signed in</button></p>`,
  )
}

export function signedOutPage(): string {
  return page('You are signed out', html`<p class="quiet">You may close this page.</p>`)
}

/** @param detail the error description of the protocol, for developers */
export function errorPage(detail: string): string {
  return page(
    'Sign-in failed',
    html`<p class="quiet">The sign-in may have expired, or was completed in another tab. Go back to
the application and start again.</p>
<p><code class="wrap">${detail}</code></p>`,
  )
}

function page(title: string, content: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Demo identity provider</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/gatehouse.css">
<link rel="stylesheet" href="/provider.css">
</head>
<body>
<header class="side"><span class="brand">${icon('key')}Demo identity provider</span></header>
<div class="view">
<main>
<section class="card narrow">
<h1>${title}</h1>
${content}
</section>
</main>
<footer class="foot"><span class="quiet">A certified OpenID Provider on your own machine. It replaces your company’s provider in
the demo.</span></footer>
</div>
</body>
</html>
`.markup
}
