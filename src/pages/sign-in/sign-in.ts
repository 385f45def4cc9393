import { signInMinutes } from '#src/auth/sign-in/state.ts'
import { type Html, html } from '#src/pages/kit/html.ts'
import { layout, type Page } from '#src/pages/kit/layout.ts'

export type ProviderChoice = {
  name: string
  label: string
  /** It did not respond to the last request. */
  isDown: boolean
  /** This browser signed in with it last. */
  isLastUsed: boolean
}

type SignInStart = {
  provider?: string
  /** For a signed-in user who has to confirm their identity. */
  reauthenticate?: boolean
  /** Path or URL to return to; null for the configured one. */
  returnTo?: string | null
}

/** Path and query that start a sign-in. */
export function signInPath({ provider, reauthenticate, returnTo }: SignInStart): string {
  const query = new URLSearchParams()
  if (provider !== undefined) query.set('provider', provider)
  if (reauthenticate === true) query.set('reauthenticate', 'true')
  if (returnTo) query.set('return_to', returnTo)
  return query.size === 0 ? '/auth/login' : `/auth/login?${query}`
}

/** The page to choose a provider. */
export function signInPage(
  providers: readonly ProviderChoice[],
  start: Omit<SignInStart, 'provider'>,
): Page {
  const { reauthenticate = false } = start
  const title = reauthenticate ? 'Confirm your identity' : 'Sign in'
  return layout(
    title,
    html`<section class="card narrow">
        <h1>${title}</h1>
        <p class="quiet">You will be redirected to your provider and back.</p>
        ${signInButtons(providers, start)}
        ${timeNote}
      </section>`,
  )
}

/** Said before the browser leaves, because a response that comes later is refused. */
export const timeNote = html`<p class="quiet small">Complete the sign-in within ${signInMinutes} minutes. After that, start again here.</p>`

/** One button per provider: the last used one first, those with an outage last and marked. */
export function signInButtons(
  providers: readonly ProviderChoice[],
  start: Omit<SignInStart, 'provider'> = {},
): Html {
  const up = providers.filter(({ isDown }) => !isDown)
  const down = providers.filter(({ isDown }) => isDown)
  const href = (provider: string) => signInPath({ ...start, provider })
  const lastUsed = up.find(({ isLastUsed }) => isLastUsed)
  const others = up.filter((choice) => choice !== lastUsed)
  const button = ({ name, label }: ProviderChoice, look: string) =>
    html`<a class="button provider${look}" href="${href(name)}">${initial(label)}Sign in with ${label}</a>`
  const last = lastUsed
    ? html`<p class="small quiet">Last time you used ${lastUsed.label}.</p>
          ${button(lastUsed, '')}`
    : ''
  const rest = others.map((choice) => button(choice, lastUsed === undefined ? '' : ' plain'))
  const unavailable = down.map(
    ({ name, label }) => html`<div class="outage">
            <p id="outage-${name}"><span class="badge bad">Outage</span> Sign-in with ${label} is currently unavailable. Existing sessions keep working.</p>
            <a class="button plain" href="${href(name)}" aria-describedby="outage-${name}">Try ${label} anyway</a>
          </div>`,
  )
  return html`<nav class="choices" aria-label="Sign-in methods">${last}${rest}${unavailable}</nav>`
}

/** In place of the provider's logo, which may be shown only as its guidelines say. */
function initial(label: string): Html {
  const [first = ''] = label.replace(/^the /, '') // by characters, not halves of them
  return html`<span class="initial" aria-hidden="true">${first.toUpperCase()}</span>`
}

/** Leads to a URL on another origin after a sign-in. */
export function returnPage(url: string): Page {
  return layout(
    'Signed in',
    html`<section class="card narrow">
        <h1>You are signed in</h1>
        <p><a class="button" href="${url}">Continue to ${new URL(url).host}</a></p>
      </section>`,
    undefined,
    html`<meta http-equiv="refresh" content="0;url=${url}">`,
  )
}

/** `cameBackFrom` and `offer.label` are provider labels as on the sign-in buttons. */
export type SignedOut = {
  cameBackFrom: string | null
  /** URL that ends the session at the provider. */
  offer: { label: string; url: string } | null
}

/** The page after signing out. */
export function signedOutPage({ cameBackFrom, offer }: SignedOut): Page {
  return layout(
    'Signed out',
    html`<section class="card narrow">
        <h1>You are signed out</h1>
        <p>${textFor(cameBackFrom, offer)}</p>
        <nav class="choices" aria-label="Next steps">
          ${offer === null ? '' : html`<a class="button" href="${offer.url}">Also sign out of ${offer.label}</a>`}
          <a class="button plain" href="/auth/login">Sign in again</a>
        </nav>
      </section>`,
  )
}

function textFor(cameBackFrom: string | null, offer: SignedOut['offer']): string {
  if (cameBackFrom !== null) return `You have returned from ${cameBackFrom}.`
  if (offer === null) return 'Your session has ended.'
  return `Your session has ended. This browser may still be signed in to ${offer.label}.`
}
