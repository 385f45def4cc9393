import { auditSection, deviceName, type Trail } from './audit.ts'
import { type Html, html, table, timeText } from './html.ts'
import { layout, noticeText, type Viewer } from './layout.ts'
import type { ProviderChoice } from './sign-in.ts'

export type Account = {
  viewer: Viewer
  email: string | null
  identities: readonly ShownIdentity[]
  providers: readonly ProviderChoice[]
  memberships: readonly ShownMembership[]
  sessions: readonly ShownSession[]
  tokens: readonly ShownToken[]
  grantable: readonly string[]
  audit: Trail
  /** What was just done; absent when the page was simply opened. */
  done: string | undefined
  /** The secret of a token that was just made; shown this once. */
  newToken: { name: string; token: string } | null
}

const notices = {
  'session-ended': 'That device is signed out.',
  'others-ended': 'All other devices are signed out.',
  'token-ended': 'The token is ended; its next request is refused.',
  'identity-removed': 'That way to sign in is removed.',
} as const
export type AccountNotice = keyof typeof notices

/** Everything about one's own account on one page. */
export function accountPage(account: Account): string {
  return layout(
    'Account',
    html`<header class="head">
        <h1>Your account</h1>
        <p class="quiet wrap">${account.email ?? 'An account without an address'}</p>
      </header>
      ${noticeText(notices, account.done)}
      ${account.newToken === null ? '' : newTokenSection(account.newToken)}
      ${identitySection(account.identities, account.providers)}
      ${sessionSection(account.sessions)}
      ${tenantSection(account.memberships)}
      ${tokenSection(account.tokens, account.grantable)}
      ${auditSection('/app/account', account.audit)}`,
    { current: '/app/account', ...account.viewer },
  )
}

function newTokenSection({ name, token }: { name: string; token: string }): Html {
  return html`<section class="card notice" aria-labelledby="new-token">
        <h2 id="new-token">The token “${name}”</h2>
        <p>Copy it now: it is kept here only as a hash and cannot be shown again.</p>
        <pre class="secret" tabindex="0" aria-label="API token"><code>${token}</code></pre>
      </section>`
}

export type ShownMembership = { id: string; name: string; role: string; active: boolean }

const tenantColumns = [
  { label: 'Tenant', kind: 'wrap' },
  { label: 'Role' },
  { label: 'Go there', kind: 'actions' },
] as const

/** The tenants somebody belongs to, and how to go from one to another; nothing for a single one. */
function tenantSection(memberships: readonly ShownMembership[]): Html {
  if (memberships.length < 2) return html``
  const rows = memberships.map(({ id, name, role, active }) => [
    name,
    role,
    active ? html`<span class="badge">You are here</span>` : switchButton(id, name),
  ])
  return html`<section class="card" aria-labelledby="tenants">
        <h2 id="tenants">Your tenants</h2>
        ${table(tenantColumns, rows)}
      </section>`
}

function switchButton(id: string, name: string): Html {
  return html`<form method="post" action="/session/tenant">
              <input type="hidden" name="tenantId" value="${id}">
              <button class="button plain slim" aria-label="Go to ${name}">Go there</button>
            </form>`
}

export type ShownIdentity = { provider: string; subject: string; createdAt: string }

const identityColumns = [
  { label: 'Provider' },
  { label: 'Known as', kind: 'wrap' },
  { label: 'Added' },
  { label: 'Remove', kind: 'actions' },
] as const

/** The ways somebody can sign in; the last one has no button, for it cannot be taken away. */
function identitySection(
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
        ${table(identityColumns, rows)}
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

export type ShownSession = {
  id: string
  current: boolean
  createdAt: string
  lastSeenAt: string
  userAgent: string | null
  ip: string | null
}

const sessionColumns = [
  { label: 'Device', kind: 'wrap' },
  { label: 'Signed in' },
  { label: 'Last seen' },
  { label: 'End', kind: 'actions' },
] as const

/** Where somebody is signed in, with a button to end each and one for all others. */
function sessionSection(sessions: readonly ShownSession[]): Html {
  const rows = sessions.map(({ id, current, createdAt, lastSeenAt, userAgent, ip }) => [
    html`${deviceName(userAgent)} ${current ? html`<span class="badge">This device</span>` : ''}<br><span class="quiet">${ip ?? 'address unknown'}</span>`,
    timeText(createdAt),
    timeText(lastSeenAt),
    endButton(id, current, deviceName(userAgent)),
  ])
  const others = sessions.some(({ current }) => !current)
  return html`<section class="card" aria-labelledby="sessions">
        <h2 id="sessions">Where you are signed in</h2>
        ${table(sessionColumns, rows)}
        ${
          others
            ? html`<form class="row" method="post" action="/app/account/sessions/end-others"><button class="button plain">End all others</button></form>`
            : ''
        }
      </section>`
}

function endButton(id: string, current: boolean, clientInfo: string): Html {
  if (current) {
    return html`<form method="post" action="/auth/logout"><button class="button plain slim" aria-label="Sign out on this device">Sign out</button></form>`
  }
  return html`<form method="post" action="/app/account/sessions/end">
              <input type="hidden" name="id" value="${id}">
              <button class="button plain slim" aria-label="End the session of ${clientInfo}">End</button>
            </form>`
}

export type ShownToken = {
  id: string
  name: string
  permissions: readonly string[] | null
  createdAt: string
  expiresAt: string
  lastUsedAt: string | null
}

const tokenColumns = [
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
function tokenSection(tokens: readonly ShownToken[], grantable: readonly string[]): Html {
  return html`<section class="card" aria-labelledby="tokens">
        <h2 id="tokens">API tokens</h2>
        ${tokens.length === 0 ? html`<p class="quiet">You have none. A program uses one as <code>Authorization: Bearer …</code>; make the first one below.</p>` : table(tokenColumns, tokens.map(tokenRow))}
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
