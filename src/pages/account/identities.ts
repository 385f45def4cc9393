import { type Html, html } from '#src/pages/html.ts'
import type { ProviderChoice } from '#src/pages/sign-in.ts'
import { table } from '#src/pages/table.ts'
import { timeText } from '#src/pages/time.ts'

export type ShownIdentity = { provider: string; subject: string; createdAt: string }

const columns = [
  { label: 'Provider' },
  { label: 'Known as', kind: 'wrap' },
  { label: 'Added' },
  { label: 'Remove', kind: 'actions' },
] as const

/** The ways somebody can sign in; the last one has no button, for it cannot be taken away. */
export function identitySection(
  identities: readonly ShownIdentity[],
  providers: readonly ProviderChoice[],
): Html {
  const labelOf = (name: string) => providers.find((one) => one.name === name)?.label ?? name
  const removable = identities.length > 1
  const rows = identities.map(({ provider, subject, createdAt }) => [
    labelOf(provider),
    subject,
    timeText(createdAt),
    removable ? removeButton(provider, subject) : html`<span class="quiet">the only one</span>`,
  ])
  const links = providers.map(
    ({ name, label, isDown }) => html`<form method="post" action="/auth/identities/${name}">
            <button class="button plain">Add ${label}${isDown ? ' (outage)' : ''}</button>
          </form>`,
  )
  return html`<section class="card" aria-labelledby="identities">
        <h2 id="identities">Ways to sign in</h2>
        ${table(columns, rows)}
        <div class="row">${links}</div>
        <p class="quiet small">Adding or removing one asks you to have signed in within the last five minutes. <a href="/auth/login?reauthenticate=true">Confirm that it is you</a> first.</p>
      </section>`
}

function removeButton(provider: string, subject: string): Html {
  return html`<form method="post" action="/app/account/identities/remove">
              <input type="hidden" name="provider" value="${provider}">
              <input type="hidden" name="subject" value="${subject}">
              <button class="button plain slim risky" aria-label="Remove ${provider} ${subject}">Remove</button>
            </form>`
}
