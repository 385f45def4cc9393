import { type Html, html, trusted } from '#src/pages/html.ts'
import type { Person } from '../../prisma/people.ts'

const tints = 6

/** `client` is the host of the application; `current` the subject of the provider's session. */
export type Picker = {
  action: string
  client: string
  people: readonly Person[]
  current: string | undefined
}

/** The sign-in page: a list of people. */
export function pickerPage({ action, client, people, current }: Picker): string {
  const entries = people.map((person, index) => entry(person, index, person.subject === current))
  return page(
    'Choose who to sign in as',
    html`<p class="lead">You are signing in to <strong>${client}</strong>. You need no password:
these people exist only on this machine.</p>
<form method="post" action="${action}">
<ul class="people">
${entries}
</ul>
<button class="quiet" name="cancel" value="yes">Cancel and go back</button>
</form>`,
  )
}

function entry({ subject, name, email, note }: Person, index: number, isCurrent: boolean): Html {
  const mark = isCurrent ? html`<span class="badge">signed in</span>` : ''
  return html`<li><button class="person" name="subject" value="${subject}">
<span class="avatar tint-${index % tints}" aria-hidden="true">${initials(name)}</span>
<span class="who"><span class="name">${name}${mark}</span> <span class="email">${email}</span>
<span class="note">${note}</span></span>
<span class="arrow" aria-hidden="true"></span>
</button></li>`
}

function initials(name: string): string {
  const [first = '', last = ''] = name.split(' ')
  return first.slice(0, 1) + last.slice(0, 1)
}

/** @param form the library's form `op.logoutForm`, with its CSRF token */
export function signOutPage(form: string): string {
  return page(
    'Sign out here as well?',
    html`<p class="lead">You have signed out of the application. You are still signed in to the
demo’s identity provider.</p>
${trusted(form)}
<p class="actions"><button class="primary" form="op.logoutForm" name="logout" value="yes" autofocus>
Sign out</button> <button class="quiet" form="op.logoutForm">Stay signed in</button></p>`,
  )
}

export function signedOutPage(): string {
  return page('You are signed out', html`<p class="lead">You may close this page.</p>`)
}

/** @param detail the error description of the protocol, for developers */
export function errorPage(detail: string): string {
  return page(
    'Sign-in failed',
    html`<p class="lead">The sign-in may have expired, or was completed in another tab. Go back to
the application and start again.</p>
<p class="detail">${detail}</p>`,
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
<link rel="stylesheet" href="/provider.css">
</head>
<body>
<main>
<p class="brand"><span class="gate" aria-hidden="true"></span>Demo identity provider</p>
<h1>${title}</h1>
${content}
</main>
<footer>A certified OpenID Provider on your own machine. It replaces your company’s provider in
the demo.</footer>
</body>
</html>
`.markup
}
