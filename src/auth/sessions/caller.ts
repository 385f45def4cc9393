/** The authenticated user with their membership, read from the database for every request. */
export type Caller = {
  /** Id of the session's row; null for an API token. */
  sessionId: string | null
  /** Id of the API token's row; null for a session. */
  tokenId: string | null
  /** The permissions of the token; null without a limit. */
  tokenPermissions: readonly string[] | null
  /** Whole seconds since the user authenticated in this session, by database time. */
  authenticatedSecondsAgo: number | null
  userId: number
  email: string | null
  plan: string | null
  createdAt: Date
  tenantId: string | null
  role: string | null
  department: string | null
}

/** A caller authenticated by a session. */
export type SessionCaller = Caller & { sessionId: string }

/**
 * The caller of a request, by API token or by session; the token takes precedence. Null for an
 * anonymous request and in scopes that read neither.
 */
export function callerOf(request: {
  readonly tokenCaller?: Caller | null
  readonly session?: { readonly caller?: Caller | null }
}): Caller | null {
  return request.tokenCaller ?? request.session?.caller ?? null
}

/** The columns of user and membership that both look-ups select. */
export type CallerRow = {
  id: string
  user_id: string
  email: string | null
  plan: string | null
  created_at: Date
  tenant_id: string | null
  role: string | null
  department: string | null
}

/** The facts that do not depend on the credential. */
export function personOf(row: CallerRow) {
  return {
    userId: Number(row.user_id),
    email: row.email,
    plan: row.plan,
    createdAt: row.created_at,
    tenantId: row.tenant_id,
    role: row.role,
    department: row.department,
  }
}

// Sign-in rules: changing the identities of an account requires a recent authentication.
const recentSeconds = 300

/** True if the user authenticated in this session at most 300 s ago. */
export function isRecentlyAuthenticated(caller: Caller): boolean {
  const { authenticatedSecondsAgo: age } = caller
  return age !== null && age <= recentSeconds
}
