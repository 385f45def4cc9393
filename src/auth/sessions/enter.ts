import type { Caller } from '#src/access/caller.ts'
import type { Entry } from '#src/db/entry.ts'
import type { Queryable } from '#src/db/system-database.ts'

/**
 * What a request came with: the SHA-256 of the session id in its cookie, or of its API token. The
 * database hashes it once more, so neither its tables nor its log contain a usable credential.
 */
export type Credential = { readonly kind: 'session' | 'token'; readonly hash: Uint8Array }

type Rules = {
  /** A session that was not used for this long is over. */
  idleSeconds: number
  /** `provider:subject` of everyone who runs the service. */
  operators: ReadonlySet<string>
  /** Called when the last use that is recorded is more than a minute old. */
  onStale(credential: Credential): void
}

/** Both functions return these; the rest depends on the kind. */
type PersonRow = {
  user_id: string | null
  email: string | null
  plan: string | null
  created_at: Date
  tenant_id: string | null
  role: string | null
  department: string | null
  stale: boolean
}
type SessionRow = PersonRow & {
  session_id: string
  authenticated_seconds_ago: number | null
  provider: string | null
  subject: string | null
}
type TokenRow = PersonRow & { token_id: string; permissions: string[] | null }

/**
 * Opens a transaction as the person of a credential. The facts are null when the credential is not
 * live, or belongs to an anonymous session of a pending sign-in; the scope is empty then.
 */
export function enterCredential(credential: Credential, rules: Rules): Entry<Caller | null> {
  const { hash } = credential
  if (credential.kind === 'token') {
    return {
      replacesScope: true,
      statement: (forWrite) => ({
        name: 'enter-token',
        text: 'SELECT * FROM enter_token($1, $2)',
        values: [hash, forWrite],
      }),
      admit(rows) {
        const [row] = rows as TokenRow[]
        if (row?.stale) rules.onStale(credential)
        return row === undefined ? null : toTokenCaller(row)
      },
    }
  }
  return {
    replacesScope: true,
    statement: (forWrite) => ({
      name: 'enter-session',
      text: 'SELECT * FROM enter_session($1, $2, $3)',
      values: [hash, rules.idleSeconds, forWrite],
    }),
    admit(rows) {
      const [row] = rows as SessionRow[]
      if (row?.stale) rules.onStale(credential)
      return row === undefined ? null : toSessionCaller(row, rules.operators)
    },
  }
}

/** Tells of a session's entry whether the session is live, anonymous ones included. */
export function isLive(entry: Entry<unknown>): Entry<boolean> {
  return { ...entry, admit: (rows) => rows.length > 0 }
}

function toTokenCaller(row: TokenRow): Caller | null {
  const person = toPerson(row)
  if (person === null) return null
  return {
    ...person,
    sessionId: null,
    tokenId: row.token_id,
    tokenPermissions: row.permissions,
    authenticatedSecondsAgo: null,
    operator: false,
  }
}

function toSessionCaller(row: SessionRow, operators: ReadonlySet<string>): Caller | null {
  const person = toPerson(row)
  if (person === null) return null
  return {
    ...person,
    sessionId: row.session_id,
    tokenId: null,
    tokenPermissions: null,
    authenticatedSecondsAgo: row.authenticated_seconds_ago,
    operator: operators.has(`${row.provider}:${row.subject}`),
  }
}

function toPerson(row: PersonRow) {
  if (row.user_id === null) return null
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

/** Records that a session or token is in use: at most once a minute, and without waiting for a lock. */
export async function recordUse(systemDb: Queryable, { kind, hash }: Credential): Promise<void> {
  const text = kind === 'session' ? 'SELECT touch_session($1)' : 'SELECT touch_token($1)'
  await systemDb.query({ text, values: [hash] })
}
