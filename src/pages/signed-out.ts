import { html } from './html.ts'
import { layout } from './layout.ts'

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
