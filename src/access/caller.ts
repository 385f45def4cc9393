/** Who is asking, as the database found them when their credential opened the transaction. */
export type Caller = {
  /** The row of the session; null when the request came with an API token. */
  readonly sessionId: string | null
  /** The row of the API token; null when the request came with a session. */
  readonly tokenId: string | null
  /** What the token is limited to; null where nothing limits. */
  readonly tokenPermissions: readonly string[] | null
  /** Whole seconds since the person authenticated in this session, by database time. */
  readonly authenticatedSecondsAgo: number | null
  readonly userId: number
  readonly email: string | null
  readonly plan: string | null
  /** When the user was created. */
  readonly createdAt: Date
  /** The active tenant of the session, or the tenant of the token. */
  readonly tenantId: string | null
  readonly role: string | null
  readonly department: string | null
  /** Whether the identity that signed in is one of the setting OPERATORS. */
  readonly operator: boolean
}

/** A caller with an active tenant. */
export type Member = Caller & { readonly tenantId: string }

/** The first lock of tenant rows: the tenant of the caller, or of a job. */
export type TenantScope = Pick<Member, 'tenantId'>

/** The first lock of owned rows. */
export type OwnerScope = Pick<Caller, 'userId'>

/** A caller with a session. */
export type SessionCaller = Caller & { readonly sessionId: string }

// Sign-in rules: changing how one signs in needs an authentication this fresh.
const recentSeconds = 300

/** Whether the person authenticated in this session within the last five minutes, 300 s included. */
export function isRecentlyAuthenticated({
  authenticatedSecondsAgo: age,
}: Pick<Caller, 'authenticatedSecondsAgo'>): boolean {
  return age !== null && age <= recentSeconds
}
