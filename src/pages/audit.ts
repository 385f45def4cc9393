import type { AuditEntry } from '#src/audit/audit.ts'
import { type Html, html, table, timeText } from './html.ts'

export type ShownEntry = {
  at: string
  action: string
  outcome: string
  reason: string | null
  provider: string | null
  userId: number | null
  ip: string | null
  userAgent: string | null
}

export type Trail = {
  data: readonly ShownEntry[]
  /** Where it goes on; null on its last page. */
  nextCursor: string | null
  /** Whether this is not the newest page. */
  isLater: boolean
}

const actions: Readonly<Record<AuditEntry['action'], string>> = {
  'sign-in': 'Signed in',
  'sign-out': 'Signed out',
  link: 'Added a way to sign in',
  unlink: 'Removed a way to sign in',
  reauthenticate: 'Confirmed who they are',
  'session-end': 'Ended a session',
  'tenant-switch': 'Went to this tenant',
  'token-create': 'Made an API token',
  'token-delete': 'Ended an API token',
  'invitation-create': 'Invited somebody',
  'invitation-accept': 'Accepted an invitation',
  'invitation-delete': 'Withdrew an invitation',
  'user-update': 'Changed a member',
  'user-remove': 'Removed a member',
  'refresh-tokens': 'Renewed provider tokens',
  'revoke-tokens': 'Revoked provider tokens',
  'endpoint-create': 'Registered an endpoint',
  'endpoint-change': 'Changed an endpoint',
  'endpoint-delete': 'Removed an endpoint',
  'endpoint-rotate': 'Rotated a signing secret',
  'endpoint-enable': 'Enabled an endpoint',
  'endpoint-test': 'Tested an endpoint',
  'endpoint-replay': 'Sent a range again',
  'delivery-replay': 'Sent a delivery again',
}
const outcomes: Readonly<Record<AuditEntry['outcome'], { label: string; mood: string }>> = {
  done: { label: 'Done', mood: 'plainly' },
  refused: { label: 'Refused', mood: 'bad' },
  unavailable: { label: 'Unavailable', mood: 'warning' },
  failed: { label: 'Failed', mood: 'warning' },
}

/**
 * What happened lately, newest first, a page at a time.
 * @param path of the page it stands on
 * @param nameOf who is meant by an id, where several people are; absent for one's own trail
 */
export function auditSection(
  path: string,
  { data, nextCursor, isLater }: Trail,
  nameOf?: (userId: number) => string,
): Html {
  const rows = data.map(({ at, action, outcome, reason, provider, userId, ip, userAgent }) => [
    timeText(at),
    ...(nameOf === undefined ? [] : [userId === null ? '–' : nameOf(userId)]),
    html`${labelOf(actions, action)?.value ?? action}${quiet(provider)}`,
    outcomeBadge(outcome, reason),
    html`${deviceName(userAgent)}${quiet(ip)}`,
  ])
  const who = nameOf === undefined ? [] : ([{ label: 'Who', kind: 'wrap' }] as const)
  return html`<section class="card" aria-labelledby="audit">
        <h2 id="audit">What happened lately</h2>
        ${
          rows.length === 0
            ? html`<p class="quiet">Nothing yet.</p>`
            : table(
                [
                  { label: 'When' },
                  ...who,
                  { label: 'What' },
                  { label: 'Outcome' },
                  { label: 'From', kind: 'wrap' },
                ],
                rows,
              )
        }
        <nav class="row" aria-label="Pages of what happened">${isLater ? html`<a href="${path}#audit">Newest</a>` : ''}${
          nextCursor === null
            ? ''
            : html`<a href="${path}?trail=${encodeURIComponent(nextCursor)}#audit" rel="next">Older</a>`
        }</nav>
      </section>`
}

/** What was done needs no reason, but a test that was sent can have failed. */
function outcomeBadge(outcome: string, reason: string | null): Html {
  const told = outcome === 'done' && reason === 'failed' ? 'failed' : outcome
  const { label, mood } = labelOf(outcomes, told)?.value ?? { label: told, mood: 'plainly' }
  return html`<span class="badge ${mood}">${label}</span>${quiet(outcome === 'done' ? null : reason)}`
}

/** The log keeps texts; one that an older version wrote may have no words any more. */
function labelOf<T>(words: Readonly<Record<string, T>>, code: string): { value: T } | undefined {
  const known = Object.entries(words).find(([name]) => name === code)
  return known && { value: known[1] }
}

function quiet(text: string | null): Html {
  return text === null ? html`` : html` <span class="quiet">${text}</span>`
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
