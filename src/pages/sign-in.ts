import { type Html, html } from './html.ts'
import { layout } from './layout.ts'

/** `isDown`: it did not answer when it was last asked. */
export type ProviderChoice = { name: string; label: string; isDown: boolean }

/**
 * The page to choose how to sign in.
 * @param anew for somebody who is signed in and has to confirm who they are
 */
export function signInPage(providers: readonly ProviderChoice[], anew: boolean): string {
  const title = anew ? 'Confirm that it is you' : 'Sign in'
  return layout(
    title,
    html`<section class="card narrow">
        <h1>${title}</h1>
        <p class="quiet">You will be sent to the provider you choose and back again.</p>
        ${signInButtons(providers, anew ? '&reauthenticate=true' : '')}
      </section>`,
  )
}

/** One button per provider; those that answer first, and of the others it is said. */
export function signInButtons(providers: readonly ProviderChoice[], further = ''): Html {
  const up = providers.filter(({ isDown }) => !isDown)
  const down = providers.filter(({ isDown }) => isDown)
  const href = (name: string) => `/auth/login?provider=${name}${further}`
  const buttons = up.map(
    ({ name, label }) => html`<a class="button" href="${href(name)}">Sign in with ${label}</a>`,
  )
  const doubtful = down.map(
    ({ name, label }) => html`<div class="outage">
            <p id="outage-${name}"><span class="badge bad">Outage</span> Sign-in with ${label} is not working right now. Whoever is signed in stays signed in.</p>
            <a class="button plain" href="${href(name)}" aria-describedby="outage-${name}">Try ${label} anyway</a>
          </div>`,
  )
  return html`<nav class="choices" aria-label="Ways to sign in">${buttons}${doubtful}</nav>`
}

/** `cameBackFrom` and `offer.label` name a provider as its sign-in button does. */
export type SignedOut = {
  cameBackFrom: string | null
  /** Where the browser can end its session at the provider. */
  offer: { label: string; url: string } | null
}

/** The page after signing out, here and perhaps at the provider. */
export function signedOutPage({ cameBackFrom, offer }: SignedOut): string {
  return layout(
    'Signed out',
    html`<section class="card narrow">
        <h1>You are signed out</h1>
        <p>${textFor(cameBackFrom, offer)}</p>
        <nav class="choices" aria-label="What next">
          ${offer === null ? '' : html`<a class="button" href="${offer.url}">Sign out at ${offer.label} as well</a>`}
          <a class="button plain" href="/auth/login">Sign in again</a>
        </nav>
      </section>`,
  )
}

function textFor(cameBackFrom: string | null, offer: SignedOut['offer']): string {
  if (cameBackFrom !== null) return `You have come back from ${cameBackFrom}.`
  if (offer === null) return 'Your session here has ended.'
  return `Your session here has ended. This browser may still be signed in at ${offer.label}.`
}
