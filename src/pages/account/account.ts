import { type Html, html } from '../html.ts'
import { layout } from '../layout.ts'
import type { ProviderChoice } from '../sign-in.ts'
import { auditSection, type ShownEntry } from './audit.ts'
import { identitySection, type ShownIdentity } from './identities.ts'
import { type ShownSession, sessionSection } from './sessions.ts'
import { type ShownToken, tokenSection } from './tokens.ts'

export type Account = {
  email: string | null
  role: string | null
  identities: readonly ShownIdentity[]
  providers: readonly ProviderChoice[]
  sessions: readonly ShownSession[]
  tokens: readonly ShownToken[]
  grantable: readonly string[]
  audit: readonly ShownEntry[]
  /** What was just done; null when the page was simply opened. */
  notice: Notice | null
  /** The secret of a token that was just made; shown this once. */
  newToken: { name: string; token: string } | null
}

/** What can have been done, each with its sentence. */
const notices = {
  'session-ended': 'That device is signed out.',
  'others-ended': 'All other devices are signed out.',
  'token-ended': 'The token is ended; its next request is refused.',
  'identity-removed': 'That way to sign in is removed.',
} as const
export type Notice = keyof typeof notices

export function isNotice(text: string | undefined): text is Notice {
  return text !== undefined && Object.hasOwn(notices, text)
}

/** Everything about one's own account on one page. */
export function accountPage(account: Account): string {
  return layout(
    'Account',
    html`<header class="head">
        <h1>Your account</h1>
        <p class="quiet">${account.email ?? 'An account without an address'}</p>
      </header>
      ${account.notice === null ? '' : html`<p class="notice" role="status">${notices[account.notice]}</p>`}
      ${account.newToken === null ? '' : newTokenSection(account.newToken)}
      ${identitySection(account.identities, account.providers)}
      ${sessionSection(account.sessions)}
      ${tokenSection(account.tokens, account.grantable)}
      ${auditSection(account.audit)}`,
    { current: '/app/account', role: account.role },
  )
}

function newTokenSection({ name, token }: { name: string; token: string }): Html {
  return html`<section class="card notice" aria-labelledby="new-token">
        <h2 id="new-token">The token “${name}”</h2>
        <p>Copy it now: it is kept here only as a hash and cannot be shown again.</p>
        <pre class="secret"><code>${token}</code></pre>
      </section>`
}
