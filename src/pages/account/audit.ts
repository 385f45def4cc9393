import type { AuditEntry } from '#src/audit/audit.ts'
import type { AuditTargets } from '#src/audit/targets.ts'
import type { Count } from '#src/http/lists/pagination.ts'
import type { FilterLooks, ListQuery, Used } from '#src/pages/kit/filters.ts'
import {
  type Cell,
  type Column,
  type Html,
  html,
  isolated,
  table,
  timeText,
} from '#src/pages/kit/html.ts'
import type { Viewer } from '#src/pages/kit/layout.ts'
import type { ShownList } from '#src/pages/kit/list.ts'
import { sinceLook } from '#src/pages/kit/since.ts'
import { aWord, pagePathOf, wordOf } from '#src/resources/kit/names.ts'
import { resources } from '#src/resources/running-app.ts'
import { inWords } from '#src/runtime/words.ts'
import { signInTexts } from '../sign-in/problem.ts'

export type ShownEntry = {
  at: string
  action: string
  outcome: string
  reason: string | null
  provider: string | null
  target: string | null
  userId: number | null
  /** The service that did it; null for people. */
  serviceName: string | null
  /** The session in the portal, where somebody did it there. */
  portalSessionId: string | null
  ip: string | null
  userAgent: string | null
}

export type Trail = {
  data: readonly ShownEntry[]
  /** Cursor of the next page; null on the last one. */
  nextCursor: string | null
  /** True unless this is the newest page. */
  isLater: boolean
  /** What the entries are about. */
  targets: AuditTargets
}

/** Every action in words. */
export const actionNames: Readonly<Record<AuditEntry['action'], string>> = {
  'sign-in': 'Signed in',
  'sign-out': 'Signed out',
  link: 'Added a sign-in method',
  unlink: 'Removed a sign-in method',
  reauthenticate: 'Confirmed their identity',
  'address-verify': 'Verified their email address',
  'address-remove': 'Lost an unverified email address',
  'session-end': 'Ended a session',
  'tenant-switch': 'Switched to this tenant',
  'tenant-create': 'Created this tenant',
  'tenant-rename': 'Renamed this tenant',
  'tenant-leave': 'Left this tenant',
  'tenant-delete': 'Deleted a tenant',
  'account-delete': 'Deleted their account',
  'token-create': 'Created an API token',
  'token-delete': 'Revoked an API token',
  'service-token-create': 'Created a service token',
  'service-token-change': 'Changed a service token',
  'service-token-rotate': 'Rotated the secret of a service token',
  'service-token-delete': 'Revoked a service token',
  'app-token-create': 'Created an app token',
  'app-token-change': 'Changed an app token',
  'app-token-rotate': 'Rotated the secret of an app token',
  'app-token-delete': 'Revoked an app token',
  'portal-link-create': 'Made a link to the portal',
  'portal-link-open': 'Opened the portal',
  'portal-link-delete': 'Ended a link or session of the portal',
  'invitation-create': 'Invited a member',
  'invitation-accept': 'Accepted an invitation',
  'invitation-decline': 'Declined an invitation',
  'invitation-delete': 'Withdrew an invitation',
  'user-update': 'Changed a member',
  'user-remove': 'Removed a member',
  'role-map': 'Got or lost a role by a group at the provider',
  'customer-link': 'Linked a billing customer',
  'event-dismiss': 'Dismissed a billing event',
  'refresh-tokens': 'Renewed provider tokens',
  'revoke-tokens': 'Revoked provider tokens',
  'endpoint-create': 'Added an endpoint',
  'endpoint-change': 'Changed an endpoint',
  'endpoint-delete': 'Deleted an endpoint',
  'endpoint-rotate': 'Rotated a signing secret',
  'endpoint-enable': 'Enabled an endpoint',
  'endpoint-pause': 'Paused an endpoint',
  'endpoint-resume': 'Resumed an endpoint',
  'endpoint-test': 'Tested an endpoint',
  'endpoint-probe': 'Checked the receiver of an endpoint',
  'endpoint-replay': 'Replayed deliveries',
  'endpoint-replay-cancel': 'Cancelled a replay',
  'row-action': 'Did something with a row',
  'delivery-replay': 'Replayed a delivery',
}

/** The actions of the app's own in words, by what the reason of their entries is: `task:close`. */
export const ownActionNames: ReadonlyMap<string, string> = new Map(
  resources.flatMap((one) =>
    Object.entries(one.own).map(([name, { button }]) => [
      `${one.name}:${name}`,
      button === undefined ? `${inWords(name)} ${aWord(one)}` : `${button}: ${wordOf(one)}`,
    ]),
  ),
)

/** What was done, in words. */
function wordsOf({ action, reason }: Pick<ShownEntry, 'action' | 'reason'>): string {
  const own = action === 'row-action' ? ownActionNames.get(reason ?? '') : undefined
  return own ?? labelOf(actionNames, action)?.value ?? action
}

const outcomes: Readonly<Record<AuditEntry['outcome'], { label: string; mood: string }>> = {
  done: { label: 'Done', mood: 'plainly' },
  refused: { label: 'Refused', mood: 'bad' },
  unavailable: { label: 'Unavailable', mood: 'warning' },
  failed: { label: 'Failed', mood: 'warning' },
}

/** Reasons in words, except those of sign-ins; by the start of the code. */
const reasons: Readonly<Record<string, string>> = {
  'bad-state': 'It was not started in this browser, has expired or was already used.',
  'last-sign-in-method': 'The only sign-in method cannot be removed.',
  'last-admin': 'A tenant needs an admin.',
  'tenant-missing': 'OIDC_<NAME>_ROLE_TENANT names no open tenant.',
  'refresh-rejected': 'The provider no longer accepts the stored token.',
  'answer-lost': 'The provider did not respond while a token was renewed.',
  'id-token-changed': 'The provider returned a token of another identity.',
  'provider-unknown': 'The provider is no longer configured.',
  'revocation-': 'The provider did not revoke the token.',
  'seal-': 'The stored token cannot be decrypted.',
  'logout-provider-unavailable': 'The provider’s keys could not be fetched.',
  'logout-': 'The provider’s logout request failed our checks.',
}

/** The reason in words; a code that this version does not know, with spaces. */
function reasonText(code: string): string {
  const ofSignIn = labelOf(signInTexts, code)?.value.text
  if (ofSignIn !== undefined) return firstSentence(ofSignIn)
  const known = Object.entries(reasons).find(([start]) => code.startsWith(start))
  return known?.[1] ?? `${code.charAt(0).toUpperCase()}${code.slice(1).replaceAll('-', ' ')}.`
}

function firstSentence(text: string): string {
  return text.slice(0, text.indexOf('.') + 1)
}

/** A page of audit entries, with what they are filtered by. */
export type AuditView = {
  viewer: Viewer
  entries: readonly ShownEntry[]
  cursors: Pick<ShownList, 'nextCursor' | 'previousCursor'>
  count: Count
  query: ListQuery
  used: Used
  targets: AuditTargets
}

/** How the filters look that every list of audit entries has. */
export function activityLooks(): FilterLooks {
  const actions = [...ownActionNames, ...Object.entries(actionNames)]
  return {
    action: {
      ...{ label: 'Action', all: 'All actions' },
      options: actions.map(([value, label]) => ({ value, label })),
    },
    since: sinceLook('Time'),
    created: { label: 'Time' },
  }
}

/**
 * Recent activity from the audit log, newest first, one page at a time.
 * @param path path of the page that shows it
 * @param nameOf display name of a user
 */
export function auditSection(
  path: string,
  { data, nextCursor, isLater, targets }: Trail,
  nameOf: (userId: number) => string,
): Html {
  const rows = data.map((entry) => auditRow(entry, targets, nameOf))
  return html`<section class="card" aria-labelledby="audit">
        <div class="headed"><h2 id="audit">Recent activity</h2><a href="/app/audit">View the audit log</a></div>
        ${rows.length === 0 ? html`<p class="quiet">No activity yet.</p>` : html`<div class="compact">${table(auditColumns(true), rows)}</div>`}
        <nav class="row" aria-label="Activity pages">${isLater ? html`<a href="${path}#audit">Newest</a>` : ''}${
          nextCursor === null
            ? ''
            : html`<a href="${path}?trail=${encodeURIComponent(nextCursor)}#audit" rel="next">Older</a>`
        }</nav>
      </section>`
}

/** The columns of a table of audit entries. @param withUser whether there is one for the user */
export function auditColumns(withUser: boolean): Column[] {
  return [
    { label: 'Time' },
    ...(withUser ? [{ label: 'User', kind: 'wrap' } as const] : []),
    { label: 'Action', kind: 'wrap' },
    { label: 'Outcome' },
    { label: 'Device', kind: 'wrap' },
  ]
}

/** An audit entry as a row of such a table. @param nameOf display name of a user, for their column */
export function auditRow(
  entry: ShownEntry,
  targets: AuditTargets,
  nameOf?: (userId: number) => string,
): Cell[] {
  const { at, outcome, reason, provider, ip, userAgent } = entry
  return [
    timeText(at),
    ...(nameOf === undefined ? [] : [actorOf(entry, nameOf)]),
    html`${wordsOf(entry)}${quiet(provider)}${targetOf(entry, targets, nameOf)}`,
    outcomeBadge(outcome, reason),
    html`${isolated(deviceName(userAgent))}${quiet(ip)}`,
  ]
}

/** A person leads to everything that they did. */
function actorOf(
  { action, userId, serviceName, portalSessionId }: ShownEntry,
  nameOf: (userId: number) => string,
): Cell {
  if (serviceName !== null) {
    if (portalSessionId !== null) {
      return html`${isolated(serviceName)}${quiet('portal session')}<br><code class="quiet">${portalSessionId}</code>`
    }
    const kind = action.startsWith('portal-') ? 'app token' : 'service token'
    return html`${isolated(serviceName)}${quiet(kind)}`
  }
  if (userId === null) return '–'
  return html`<a class="plainly" href="/app/audit?user=${userId}">${isolated(nameOf(userId))}</a>`
}

/** The page that shows what an action is about; by the start of the action. */
const targetPages: Readonly<Record<string, (id: string) => string>> = {
  'endpoint-': (id) => `/app/webhooks/${id}`,
  'delivery-': (id) => `/app/deliveries/${id}`,
  'service-token-': () => '/app/service-tokens',
  'token-': () => '/app/account/tokens',
  'invitation-': () => '/app/tenant#invitations',
}

/** Actions whose target says no more than the action does, or is a secret's hash. */
const untold = /^(session-|sign-|tenant-|account-|reauthenticate)/

/** What the entry is about: a link, or its id if it was deleted. */
function targetOf(
  { action, reason, target }: ShownEntry,
  targets: AuditTargets,
  nameOf?: (userId: number) => string,
): Html {
  if (target === null || untold.test(action)) return html``
  if (action.startsWith('user-') && nameOf !== undefined) {
    return html`<br><a href="/app/tenant?search=${target}">${isolated(nameOf(Number(target)))}</a>`
  }
  if (action === 'row-action') return rowOf(reason, target)
  const name = targets.get(target)
  const page = Object.entries(targetPages).find(([start]) => action.startsWith(start))?.[1]
  return name === undefined || page === undefined
    ? html`<br><code class="quiet">${target}</code>`
    : html`<br><a href="${page(target)}">${isolated(name)}</a>`
}

/** A link to the row, which may be gone, if its resource has pages. */
function rowOf(reason: string | null, id: string): Html {
  const resource = resources.find(({ name }) => name === reason?.split(':')[0])
  if (resource === undefined) return html`<br><code class="quiet">${id}</code>`
  const name = `${wordOf(resource)} ${id}`
  if (resource.page === null) return html`<br><span class="quiet">${name}</span>`
  return html`<br><a href="${pagePathOf(resource)}/${id}">${name}</a>`
}

/** The reason is hidden for `done`, except that a delivered test event can have failed. */
function outcomeBadge(outcome: string, reason: string | null): Html {
  const shown = outcome === 'done' && reason === 'failed' ? 'failed' : outcome
  const { label, mood } = labelOf(outcomes, shown)?.value ?? { label: shown, mood: 'plainly' }
  const shownLabel =
    shown === 'done'
      ? html`<span class="quiet">${label}</span>`
      : html`<span class="badge ${mood}">${label}</span>`
  return html`${shownLabel}${quiet(outcome === 'done' || reason === null ? null : reasonText(reason))}`
}

/** The label of a code; undefined for a code that this version no longer knows. */
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

/** Browser and operating system if recognised, otherwise the start of the user agent. */
export function deviceName(userAgent: string | null): string {
  if (userAgent === null || userAgent === '') return 'Unknown device'
  const named = ([pattern]: readonly [RegExp, string]) => pattern.test(userAgent)
  const browser = browsers.find(named)?.[1]
  const system = systems.find(named)?.[1]
  if (browser === undefined) return userAgent.slice(0, 60)
  return system === undefined ? browser : `${browser} on ${system}`
}
