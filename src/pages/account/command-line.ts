import Type from 'typebox'
import { publicKeyPattern } from '#src/crypto/sealed-message.ts'
import { formOf, hidden, renderForm } from '#src/pages/kit/form.ts'
import { html, isolated } from '#src/pages/kit/html.ts'
import { layout, type Page, type Viewer } from '#src/pages/kit/layout.ts'
import { tokenFields } from './tokens.ts'

/** What `gatehouse login` asks for: where it waits, the key of the answer, and its own state. */
export const requestFields = {
  port: Type.String({ pattern: '^[1-9][0-9]{2,4}$' }),
  key: Type.String({ pattern: publicKeyPattern }),
  state: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }),
}

export const commandLineForm = formOf({
  port: hidden(requestFields.port),
  key: hidden(requestFields.key),
  state: hidden(requestFields.state),
  name: tokenFields.name,
  days: tokenFields.days,
})

export type CommandLineRequest = { port: string; key: string; state: string; name: string }

/**
 * Asks whether the command line may act for the viewer.
 * @param request null: nothing was asked, except by a form that was refused
 */
export function commandLinePage(viewer: Viewer, request: CommandLineRequest | null): Page {
  const asked = request ?? (viewer.draft ? Object.fromEntries(viewer.draft.fields) : null)
  const body =
    asked === null
      ? html`<p>Run <code>gatehouse login</code> in a terminal: it opens this page.</p>`
      : renderForm(
          commandLineForm,
          { viewer, action: '/app/command-line', values: { days: '90', ...asked } },
          (
            inputs,
          ) => html`<p>A command line on this computer asks for an API token. It will have all your permissions in this tenant. Continue only if you have just run <code>gatehouse login</code>.</p>
          ${inputs.name}${inputs.days}
          <button class="button">Create a token for it</button>`,
        )
  return layout(
    'Command line',
    html`<section class="card narrow">
        <h1>Sign in the command line</h1>
        ${body}
      </section>`,
    { current: '/app/account', ...viewer },
  )
}

/** Leads back to the command line, with the token sealed for it. */
export function commandLineDonePage(viewer: Viewer, name: string, url: string): Page {
  return layout(
    'Command line',
    html`<section class="card narrow">
        <h1>Token created</h1>
        <p>“${isolated(name)}” goes to the command line. You can revoke it on your account page.</p>
        <a class="button" href="${url}">Return to the command line</a>
      </section>`,
    { current: '/app/account', ...viewer },
  )
}
