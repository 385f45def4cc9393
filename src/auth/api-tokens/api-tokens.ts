import { assignablePermissions } from '#src/access/roles.ts'
import { type ClientInfo, recordAudit } from '#src/audit/audit.ts'
import { type Caller, type CallerRow, personOf } from '#src/auth/sessions/caller.ts'
import { hasTokenForm, randomApiToken } from '#src/crypto/api-token.ts'
import { sha256 } from '#src/crypto/hash.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { newestFirst, newestFirstForms } from '#src/db/keyset.ts'
import type { Queryable, SystemDatabase } from '#src/db/system-database.ts'
import { statementTimeoutsMs } from '#src/db/timeouts.ts'
import { type Page, pageOf } from '#src/http/pagination.ts'
import { Problem } from '#src/http/problems.ts'

/** A token as its owner sees it. The secret is returned only when the token is created. */
export type ApiToken = {
  id: string
  name: string
  /** The permissions of the token; null for all permissions of its owner. */
  permissions: string[] | null
  createdAt: string
  expiresAt: string
  lastUsedAt: string | null
}

export type NewToken = {
  name: string
  /** At most 366 days from now; null for the default of 90 days. */
  expiresAt: Date | null
  permissions: readonly string[] | null
}

export type TokenRow = {
  id: string
  name: string
  permissions: string[] | null
  created_at: Date
  expires_at: Date
  last_used_at: Date | null
}

const defaultDays = 90
const maxDays = 366
const statementTimeoutMs = statementTimeoutsMs.byKey
// last_used_at is updated at most this often, so that most look-ups write nothing.
const usedEverySeconds = 60

/**
 * Reads token, user and membership in one statement. Expiry is checked by database time. A user who
 * has left the tenant has no tokens in it.
 * @returns null if the token is not valid
 */
export async function findToken(systemDb: Queryable, token: string): Promise<Caller | null> {
  if (!hasTokenForm(token)) return null
  const { rows } = await systemDb.query<CallerRow & { permissions: string[] | null }>({
    name: 'find-token',
    text: `
      WITH live AS (
        SELECT id, user_id, tenant_id, permissions, last_used_at FROM api_tokens
        WHERE hash = $1 AND expires_at > now()
      ), used AS (
        UPDATE api_tokens SET last_used_at = now()
        WHERE id = (SELECT id FROM live
                    WHERE last_used_at IS NULL OR last_used_at < now() - make_interval(secs => $2))
      )
      SELECT live.id, live.user_id, live.permissions, u.email, u.plan, u.created_at,
             live.tenant_id, m.role, m.department
      FROM live
      JOIN users u ON u.id = live.user_id
      JOIN memberships m ON m.tenant_id = live.tenant_id AND m.user_id = live.user_id`,
    values: [sha256(token), usedEverySeconds],
  })
  const [row] = rows
  if (row === undefined) return null
  return {
    sessionId: null,
    tokenId: row.id,
    tokenPermissions: row.permissions,
    authenticatedSecondsAgo: null,
    ...personOf(row),
  }
}

/**
 * Creates an API token with a subset of the caller's permissions.
 * @returns the token with its secret, or null if `expiresAt` is not within the next 366 days
 * @throws Problem if the caller has no active tenant or lacks one of the permissions
 */
export async function createOwnToken(
  systemDb: SystemDatabase,
  { userId, tenantId, role }: Caller,
  wanted: NewToken,
  clientInfo: ClientInfo,
): ReturnType<typeof createToken> {
  if (tenantId === null) throw new Problem('forbidden', { detail: 'You have no active tenant.' })
  const assignable = assignablePermissions(role)
  if (wanted.permissions?.some((permission) => !assignable.includes(permission))) {
    throw new Problem('forbidden', { detail: 'A token cannot have permissions that you lack.' })
  }
  return createToken(systemDb, { userId, tenantId }, wanted, clientInfo)
}

/**
 * Creates a token of the user in the tenant.
 * @returns the token with its secret, or null if `expiresAt` is not within the next 366 days
 */
export async function createToken(
  systemDb: SystemDatabase,
  owner: { userId: number; tenantId: string },
  token: NewToken,
  clientInfo: ClientInfo,
): Promise<(ApiToken & { token: string }) | null> {
  const secret = randomApiToken()
  return systemDb.transaction({ statementTimeoutMs }, async (connection) => {
    const { rows } = await connection.query<TokenRow>({
      text: `
        INSERT INTO api_tokens (hash, user_id, tenant_id, name, permissions, expires_at)
        SELECT $1, $2, $3, $4, $5, expires_at
        FROM (SELECT coalesce($6::timestamptz, now() + make_interval(days => $7)) AS expires_at) e
        WHERE expires_at > now() AND expires_at <= now() + make_interval(days => $8)
        RETURNING id, name, permissions, created_at, expires_at, last_used_at`,
      values: [
        sha256(secret),
        owner.userId,
        owner.tenantId,
        token.name,
        token.permissions,
        token.expiresAt?.toISOString() ?? null,
        defaultDays,
        maxDays,
      ],
    })
    const [row] = rows
    if (row === undefined) return null
    const created = { action: 'token-create', outcome: 'done', target: row.id } as const
    const reason = row.permissions === null ? 'unlimited' : 'limited'
    await recordAudit(connection, { ...created, reason, ...owner }, clientInfo)
    return { ...toToken(row), token: secret }
  })
}

/** Deletes a token of the user. @returns false if it does not exist or belongs to another user */
export async function deleteToken(
  systemDb: SystemDatabase,
  owner: { userId: number },
  id: string,
  clientInfo: ClientInfo,
): Promise<boolean> {
  return systemDb.transaction({ statementTimeoutMs }, async (connection) => {
    const { rows } = await connection.query<{ tenant_id: string }>({
      text: 'DELETE FROM api_tokens WHERE id = $1 AND user_id = $2 RETURNING tenant_id',
      values: [id, owner.userId],
    })
    const [row] = rows
    if (row === undefined) return false
    const deleted = { action: 'token-delete', outcome: 'done', reason: 'own-request' } as const
    const { userId } = owner
    await recordAudit(
      connection,
      { ...deleted, userId, tenantId: row.tenant_id, target: id },
      clientInfo,
    )
    return true
  })
}

export const tokenList = { name: 'tokens', forms: newestFirstForms }

type ListedRow = TokenRow & { position: string }

/** The user's tokens in all tenants, newest first. Expired ones are listed until the cleanup. */
export async function listTokens(tx: Tx, owner: { readonly userId: number }, page: Page) {
  const rows = await tx.$queryRaw<ListedRow[]>`${owned(owner.userId)} AND ${newestFirst(page)}`
  return pageOf(rows, page, tokenList.name, (row) => [row.position, row.id], toToken)
}

/** A token of the user; null if it does not exist or belongs to another user. */
export async function findOwnToken(tx: Tx, owner: { readonly userId: number }, id: string) {
  const [row] = await tx.$queryRaw<ListedRow[]>`${owned(owner.userId)} AND id = ${id}::uuid`
  return row === undefined ? null : toToken(row)
}

function owned(userId: number): Prisma.Sql {
  return Prisma.sql`
    SELECT id, name, permissions, created_at, expires_at, last_used_at,
           (extract(epoch FROM created_at) * 1000000)::bigint::text AS position
    FROM api_tokens WHERE user_id = ${userId}`
}

function toToken(row: TokenRow): ApiToken {
  return {
    id: row.id,
    name: row.name,
    permissions: row.permissions,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
  }
}
