import { type Html, html } from '../html.ts'
import { timeText } from '../time.ts'

export type ShownToken = {
  id: string
  name: string
  permissions: readonly string[] | null
  createdAt: string
  expiresAt: string
  lastUsedAt: string | null
}

/**
 * Somebody's API tokens, and a form to make one.
 * @param grantable what a token of theirs can be limited to
 */
export function tokenSection(tokens: readonly ShownToken[], grantable: readonly string[]): Html {
  return html`<section class="card" aria-labelledby="tokens">
        <h2 id="tokens">API tokens</h2>
        ${tokens.length === 0 ? html`<p class="quiet">You have none. A program uses one as <code>Authorization: Bearer …</code>.</p>` : tokenTable(tokens)}
        ${tokenForm(grantable)}
      </section>`
}

function tokenTable(tokens: readonly ShownToken[]): Html {
  const rows = tokens.map(
    ({ id, name, permissions, expiresAt, lastUsedAt }) => html`<tr>
            <td class="wrap">${name}</td>
            <td class="wrap">${permissions === null ? 'all that you may' : permissions.join(', ') || 'only who it is'}</td>
            <td>${timeText(lastUsedAt)}</td>
            <td>${timeText(expiresAt)}</td>
            <td class="actions"><form method="post" action="/app/account/tokens/end">
              <input type="hidden" name="id" value="${id}">
              <button class="button plain slim" aria-label="End the token ${name}">End</button>
            </form></td>
          </tr>`,
  )
  return html`<div class="scroll"><table>
          <thead><tr><th scope="col">Name</th><th scope="col">May</th><th scope="col">Last used</th><th scope="col">Expires</th><th><span class="unseen">End</span></th></tr></thead>
          <tbody>${rows}</tbody>
        </table></div>`
}

function tokenForm(grantable: readonly string[]): Html {
  const boxes = grantable.map(
    (permission) =>
      html`<label class="box"><input type="checkbox" name="permissions" value="${permission}"> ${permission}</label>`,
  )
  return html`<form class="form" method="post" action="/app/account/tokens">
          <h3>Make a token</h3>
          <label>Name <input name="name" required maxlength="100" autocomplete="off" placeholder="What uses it"></label>
          <label>Good for
            <select name="days">
              <option value="7">7 days</option>
              <option value="30">30 days</option>
              <option value="90" selected>90 days</option>
              <option value="365">a year</option>
            </select>
          </label>
          <fieldset><legend>Limited to (none chosen: all that you may)</legend><div class="boxes">${boxes}</div></fieldset>
          <button class="button">Make the token</button>
        </form>`
}
