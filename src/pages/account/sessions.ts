import { type Html, html } from '#src/pages/html.ts'
import { table } from '#src/pages/table.ts'
import { timeText } from '#src/pages/time.ts'
import { deviceName } from './device-name.ts'

export type ShownSession = {
  id: string
  current: boolean
  createdAt: string
  lastSeenAt: string
  userAgent: string | null
  ip: string | null
}

const columns = [
  { label: 'Device', kind: 'wrap' },
  { label: 'Signed in' },
  { label: 'Last seen' },
  { label: 'End', kind: 'actions' },
] as const

/** Where somebody is signed in, with a button to end each and one for all others. */
export function sessionSection(sessions: readonly ShownSession[]): Html {
  const rows = sessions.map(({ id, current, createdAt, lastSeenAt, userAgent, ip }) => [
    html`${deviceName(userAgent)} ${current ? html`<span class="badge">This device</span>` : ''}<br><span class="quiet">${ip ?? 'address unknown'}</span>`,
    timeText(createdAt),
    timeText(lastSeenAt),
    endButton(id, current, deviceName(userAgent)),
  ])
  const others = sessions.some(({ current }) => !current)
  return html`<section class="card" aria-labelledby="sessions">
        <h2 id="sessions">Where you are signed in</h2>
        ${table(columns, rows)}
        ${
          others
            ? html`<form class="row" method="post" action="/app/account/sessions/end-others"><button class="button plain">End all others</button></form>`
            : ''
        }
      </section>`
}

function endButton(id: string, current: boolean, device: string): Html {
  if (current) {
    return html`<form method="post" action="/auth/logout"><button class="button plain slim" aria-label="Sign out on this device">Sign out</button></form>`
  }
  return html`<form method="post" action="/app/account/sessions/end">
              <input type="hidden" name="id" value="${id}">
              <button class="button plain slim" aria-label="End the session of ${device}">End</button>
            </form>`
}
