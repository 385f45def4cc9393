import { type Html, html } from '../html.ts'
import type { ProviderChoice } from '../sign-in.ts'
import { timeText } from '../time.ts'

export type ShownIdentity = { provider: string; subject: string; createdAt: string }

/** The ways somebody can sign in; the last one has no button, for it cannot be taken away. */
export function identitySection(
  identities: readonly ShownIdentity[],
  providers: readonly ProviderChoice[],
): Html {
  const labelOf = (name: string) => providers.find((one) => one.name === name)?.label ?? name
  const removable = identities.length > 1
  const rows = identities.map(
    ({ provider, subject, createdAt }) => html`<tr>
            <td>${labelOf(provider)}</td>
            <td class="wrap">${subject}</td>
            <td>${timeText(createdAt)}</td>
            <td class="actions">${removable ? removeButton(provider, subject) : ''}</td>
          </tr>`,
  )
  const links = providers.map(
    ({ name, label }) => html`<form method="post" action="/auth/identities/${name}">
            <button class="button plain">Add ${label}</button>
          </form>`,
  )
  return html`<section class="card" aria-labelledby="identities">
        <h2 id="identities">Ways to sign in</h2>
        <div class="scroll"><table>
          <thead><tr><th scope="col">Provider</th><th scope="col">Known there as</th><th scope="col">Since</th><th><span class="unseen">Remove</span></th></tr></thead>
          <tbody>${rows}</tbody>
        </table></div>
        <div class="row">${links}</div>
        <p class="quiet small">Adding or removing one asks you to have signed in within the last five minutes. <a href="/auth/login?reauthenticate=true">Confirm that it is you</a> first.</p>
      </section>`
}

function removeButton(provider: string, subject: string): Html {
  return html`<form method="post" action="/app/account/identities/remove">
              <input type="hidden" name="provider" value="${provider}">
              <input type="hidden" name="subject" value="${subject}">
              <button class="button plain slim" aria-label="Remove ${provider} ${subject}">Remove</button>
            </form>`
}
