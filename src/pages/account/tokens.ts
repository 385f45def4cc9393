import { type Html, html } from '#src/pages/html.ts'
import { table } from '#src/pages/table.ts'
import { timeText } from '#src/pages/time.ts'

export type ShownToken = {
  id: string
  name: string
  permissions: readonly string[] | null
  createdAt: string
  expiresAt: string
  lastUsedAt: string | null
}

const columns = [
  { label: 'Name', kind: 'wrap' },
  { label: 'May', kind: 'wrap' },
  { label: 'Last used' },
  { label: 'Expires' },
  { label: 'End', kind: 'actions' },
] as const

/**
 * Somebody's API tokens, and a form to make one.
 * @param grantable what a token of theirs can be limited to
 */
export function tokenSection(tokens: readonly ShownToken[], grantable: readonly string[]): Html {
  return html`<section class="card" aria-labelledby="tokens">
        <h2 id="tokens">API tokens</h2>
        ${tokens.length === 0 ? html`<p class="quiet">You have none. A program uses one as <code>Authorization: Bearer …</code>; make the first one below.</p>` : table(columns, tokens.map(tokenRow))}
        ${tokenForm(grantable)}
      </section>`
}

function tokenRow({ id, name, permissions, expiresAt, lastUsedAt }: ShownToken): Html[] {
  return [
    html`${name}`,
    html`${permissions === null ? 'all that you may' : permissions.join(', ') || 'only who it is'}`,
    timeText(lastUsedAt),
    timeText(expiresAt),
    html`<form method="post" action="/app/account/tokens/end">
              <input type="hidden" name="id" value="${id}">
              <button class="button plain slim risky" aria-label="End the token ${name}">End</button>
            </form>`,
  ]
}

function tokenForm(grantable: readonly string[]): Html {
  const boxes = grantable.map(
    (permission) =>
      html`<label class="box"><input type="checkbox" name="permissions" value="${permission}"> ${permission}</label>`,
  )
  return html`<form class="form" method="post" action="/app/account/tokens">
          <h3>Make a token</h3>
          <div class="pair">
            <label>Name <input name="name" required maxlength="100" autocomplete="off" placeholder="What uses it"></label>
            <label>Good for
              <select name="days">
                <option value="7">7 days</option>
                <option value="30">30 days</option>
                <option value="90" selected>90 days</option>
                <option value="365">a year</option>
              </select>
            </label>
          </div>
          <fieldset><legend>Limited to (none chosen: all that you may)</legend><div class="boxes">${boxes}</div></fieldset>
          <button class="button">Make the token</button>
        </form>`
}
