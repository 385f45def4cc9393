import { type Html, html } from './html.ts'
import { layout } from './layout.ts'

export type ProviderChoice = { name: string; label: string }

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

/** One button per provider. */
export function signInButtons(providers: readonly ProviderChoice[], further = ''): Html {
  const buttons = providers.map(
    ({ name, label }) =>
      html`<a class="button" href="/auth/login?provider=${name}${further}">Sign in with ${label}</a>`,
  )
  return html`<nav class="choices" aria-label="Ways to sign in">${buttons}</nav>`
}
