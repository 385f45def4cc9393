import { type Html, html } from '../html.ts'
import { timeText } from '../time.ts'

export type ShownSession = {
  id: string
  current: boolean
  createdAt: string
  lastSeenAt: string
  userAgent: string | null
  ip: string | null
}

/** Where somebody is signed in, with a button to end each and one for all others. */
export function sessionSection(sessions: readonly ShownSession[]): Html {
  const rows = sessions.map(
    ({ id, current, createdAt, lastSeenAt, userAgent, ip }) => html`<tr>
            <td class="wrap">${deviceName(userAgent)} ${current ? html`<span class="badge">This device</span>` : ''}<br><span class="quiet">${ip ?? 'address unknown'}</span></td>
            <td>${timeText(createdAt)}</td>
            <td>${timeText(lastSeenAt)}</td>
            <td class="actions">${endButton(id, current)}</td>
          </tr>`,
  )
  const others = sessions.some(({ current }) => !current)
  return html`<section class="card" aria-labelledby="sessions">
        <h2 id="sessions">Where you are signed in</h2>
        <div class="scroll"><table>
          <thead><tr><th scope="col">Device</th><th scope="col">Signed in</th><th scope="col">Last seen</th><th><span class="unseen">End</span></th></tr></thead>
          <tbody>${rows}</tbody>
        </table></div>
        ${
          others
            ? html`<form method="post" action="/app/account/sessions/end-others"><button class="button plain">End all others</button></form>`
            : ''
        }
      </section>`
}

function endButton(id: string, current: boolean): Html {
  if (current) {
    return html`<form method="post" action="/auth/logout"><button class="button plain slim">Sign out</button></form>`
  }
  return html`<form method="post" action="/app/account/sessions/end">
              <input type="hidden" name="id" value="${id}">
              <button class="button plain slim">End</button>
            </form>`
}

const browsers: readonly [RegExp, string][] = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrom(e|ium)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
]
const systems: readonly [RegExp, string][] = [
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux|CrOS/, 'Linux'],
]

/** Browser and system where they are of the usual ones, else what it calls itself. */
export function deviceName(userAgent: string | null): string {
  if (userAgent === null || userAgent === '') return 'Unknown device'
  const named = ([pattern]: readonly [RegExp, string]) => pattern.test(userAgent)
  const browser = browsers.find(named)?.[1]
  const system = systems.find(named)?.[1]
  if (browser === undefined) return userAgent.slice(0, 60)
  return system === undefined ? browser : `${browser} on ${system}`
}
