import { type Html, html } from './html.ts'
import { layout } from './layout.ts'

export type ProviderChoice = { name: string; label: string }

/** The page to choose how to sign in. */
export function signInPage(providers: readonly ProviderChoice[]): string {
  return layout(
    'Sign in',
    html`<section class="card narrow">
        <h1>Sign in</h1>
        <p class="quiet">You will be sent to the provider you choose and back again.</p>
        ${signInButtons(providers)}
      </section>`,
  )
}

/** One button per provider. */
export function signInButtons(providers: readonly ProviderChoice[]): Html {
  const buttons = providers.map(
    ({ name, label }) =>
      html`<a class="button" href="/auth/login?provider=${name}">Sign in with ${label}</a>`,
  )
  return html`<nav class="choices" aria-label="Ways to sign in">${buttons}</nav>`
}
