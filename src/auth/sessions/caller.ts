/** Who is asking and what they are right now; read anew with every request. */
export type Caller = {
  /** The row of the session; null when a token speaks. */
  sessionId: string | null
  /** The row of the API token; null when a session speaks. */
  tokenId: string | null
  /** What the token is limited to; null where nothing limits. */
  tokenPermissions: readonly string[] | null
  /** Whole seconds since the person authenticated in this session, by database time. */
  authenticatedSecondsAgo: number | null
  userId: number
  email: string | null
  plan: string | null
  createdAt: Date
  tenantId: string | null
  role: string | null
  department: string | null
}

/** Somebody who came with a session. */
export type SessionCaller = Caller & { sessionId: string }

/**
 * Who asks, in whichever way they have proved it: a token counts before a session. Null for nobody,
 * and where requests are looked at for neither.
 */
export function callerOf(request: {
  readonly tokenCaller?: Caller | null
  readonly session?: { readonly caller?: Caller | null }
}): Caller | null {
  return request.tokenCaller ?? request.session?.caller ?? null
}

/** User and membership as both look-ups select them. */
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

/** The facts that do not depend on how somebody proved who they are. */
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

// Sign-in rules: what changes how one signs in asks for an authentication this fresh.
const recentSeconds = 300

/** Whether the person authenticated in this session within the last five minutes, 300 s included. */
export function isRecentlyAuthenticated(caller: Caller): boolean {
  const { authenticatedSecondsAgo: age } = caller
  return age !== null && age <= recentSeconds
}
