import { identitySection, type ShownIdentity } from '#src/pages/account/identities.ts'
import { type ShownSession, sessionSection } from '#src/pages/account/sessions.ts'
import { type ShownMembership, tenantSection } from '#src/pages/account/tenants.ts'
import { type ShownToken, tokenSection } from '#src/pages/account/tokens.ts'
import { auditSection, type Trail } from './audit.ts'
import { type Html, html } from './html.ts'
import { layout } from './layout.ts'
import type { Viewer } from './navigation.ts'
import { noticeText } from './notice.ts'
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
