import { type Html, html } from '../html.ts'
import { timeText } from '../time.ts'
import { deviceName } from './sessions.ts'

export type ShownEntry = {
  at: string
  action: string
  outcome: string
  reason: string | null
  provider: string | null
  ip: string | null
  userAgent: string | null
}

/** What happened to the account lately. */
export function auditSection(entries: readonly ShownEntry[]): Html {
  const rows = entries.map(
    ({ at, action, outcome, reason, provider, ip, userAgent }) => html`<tr>
            <td>${timeText(at)}</td>
            <td>${sentence(action)}${provider === null ? '' : html` <span class="quiet">${provider}</span>`}</td>
            <td>${outcome === 'done' ? 'done' : html`<strong>${outcome}</strong>`} <span class="quiet">${reason ?? ''}</span></td>
            <td class="wrap">${deviceName(userAgent)} <span class="quiet">${ip ?? ''}</span></td>
          </tr>`,
  )
  return html`<section class="card" aria-labelledby="audit">
        <h2 id="audit">What happened lately</h2>
        <div class="scroll"><table>
          <thead><tr><th scope="col">When</th><th scope="col">What</th><th scope="col">Outcome</th><th scope="col">From</th></tr></thead>
          <tbody>${rows}</tbody>
        </table></div>
      </section>`
}

/** `token-create` as “Token create”: the codes are made of plain words. */
function sentence(action: string): string {
  const words = action.replaceAll('-', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
