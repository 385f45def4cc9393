import type { Caller, OwnerScope, TenantScope } from '#src/access/caller.ts'
import { assignablePermissions } from '#src/access/roles.ts'
import { type ClientInfo, recordAudit } from '#src/audit/audit.ts'
import { hintOf, lastFourOf, randomApiToken } from '#src/crypto/api-token.ts'
import { sha256 } from '#src/crypto/hash.ts'
import { lockUntilCommit } from '#src/db/advisory-lock.ts'
import type { Tx } from '#src/db/database.ts'
import type { Prisma } from '#src/db/generated/client.ts'
import { byCreation, creationForms, creationPosition } from '#src/db/keyset.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { type Page, pageOf } from '#src/http/lists/pagination.ts'
import { Problem } from '#src/http/problems.ts'

/** A token as its owner sees it. The secret is returned only when the token is created. */
export type ApiToken = {
  id: string
  name: string
  /** Its prefix and last four characters. */
  hint: string
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

const defaultDays = 90
const maxDays = 366

/** Tokens a person may have in all tenants together, those that have expired included. */
export const maxTokens = 50

/** What is read of a token: not its hash. */
const shown = {
  id: true,
  name: true,
  lastFour: true,
  allPermissions: true,
  permissions: true,
  createdAt: true,
  expiresAt: true,
  lastUsedAt: true,
} as const satisfies Prisma.ApiTokenSelect

type TokenRow = Prisma.ApiTokenGetPayload<{ select: typeof shown }>

/**
 * Creates a token of the user in the tenant.
 * @returns the token with its secret, or null if `expiresAt` is not within the next 366 days
 */
export async function createToken(
  connection: Queryable,
  owner: OwnerScope & TenantScope,
  token: NewToken,
  clientInfo: ClientInfo,
): Promise<(ApiToken & { token: string }) | null> {
  const secret = randomApiToken()
  const [row] = await connection.sql<TokenRow>`
    INSERT INTO api_tokens (hash, last_four, user_id, tenant_id, name, all_permissions, permissions,
      expires_at)
    SELECT ${sha256(sha256(secret))}, ${lastFourOf(secret)}, ${owner.userId}, ${owner.tenantId}, ${token.name},
      ${token.permissions === null}, ${token.permissions ?? []}, expires_at
    FROM (SELECT coalesce(${token.expiresAt?.toISOString() ?? null}::timestamptz, now() +
      make_interval(days => ${defaultDays})) AS expires_at) e
    WHERE expires_at > now() AND expires_at <= now() + make_interval(days => ${maxDays})
    RETURNING id, name, last_four AS "lastFour", all_permissions AS "allPermissions", permissions,
              created_at AS "createdAt", expires_at AS "expiresAt",
              last_used_at AS "lastUsedAt"`
  if (row === undefined) return null
  const created = { action: 'token-create', outcome: 'done', target: row.id } as const
  const reason = row.allPermissions ? 'unlimited' : 'limited'
  await recordAudit(connection, { ...created, reason, ...owner }, clientInfo)
  return { ...toToken(row), token: secret }
}

/** Deletes a token of the user. @returns false if it does not exist or belongs to another user */
export async function deleteToken(
  connection: Queryable,
  owner: OwnerScope,
  id: string,
  clientInfo: ClientInfo,
): Promise<boolean> {
  const [row] = await connection.sql<{ tenant_id: string }>`
    DELETE FROM api_tokens WHERE id = ${id} AND user_id = ${owner.userId} RETURNING tenant_id`
  if (row === undefined) return false
  const deleted = { action: 'token-delete', outcome: 'done', reason: 'own-request' } as const
  const { userId } = owner
  const entry = { ...deleted, userId, tenantId: row.tenant_id, target: id }
  await recordAudit(connection, entry, clientInfo)
  return true
}

function toToken(row: TokenRow): ApiToken {
  return {
    id: row.id,
    name: row.name,
    hint: hintOf('token', row.lastFour),
    permissions: row.allPermissions ? null : row.permissions,
    createdAt: row.createdAt.toISOString(),
    expiresAt: row.expiresAt.toISOString(),
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  }
}

export const tokenList = { name: 'tokens', forms: creationForms }

/** The user's tokens in all tenants, newest first. Expired ones are listed until the cleanup. */
export async function listTokens(tx: Tx, owner: OwnerScope, page: Page) {
  const { where, ...order } = byCreation(page)
  const rows = await tx.apiToken.findMany({
    where: { userId: owner.userId, ...where },
    ...order,
    select: shown,
  })
  return pageOf(rows, page, tokenList.name, creationPosition, toToken)
}

/** A token of the user; null if it does not exist or belongs to another user. */
export async function findOwnToken(tx: Tx, owner: OwnerScope, id: string) {
  const row = await tx.apiToken.findFirst({ where: { userId: owner.userId, id }, select: shown })
  return row && toToken(row)
}

/**
 * Creates an API token with a subset of the caller's permissions.
 * @returns the token with its secret, or null if `expiresAt` is not within the next 366 days
 * @throws Problem if the caller has no active tenant, lacks one of the permissions, or has
 *   `maxTokens` already
 */
export async function createOwnToken(
  connection: Queryable,
  { userId, tenantId, role }: Pick<Caller, 'userId' | 'tenantId' | 'role'>,
  wanted: NewToken,
  clientInfo: ClientInfo,
): ReturnType<typeof createToken> {
  if (tenantId === null) throw new Problem('forbidden', { detail: 'You have no active tenant.' })
  const assignable = assignablePermissions(role)
  if (wanted.permissions?.some((permission) => !assignable.includes(permission))) {
    throw new Problem('forbidden', { detail: 'A token cannot have permissions that you lack.' })
  }
  // Without the lock, two requests at once could both see room for one more.
  await lockUntilCommit(connection, 'api-tokens', String(userId))
  const tokens = await connection.sql`SELECT FROM api_tokens WHERE user_id = ${userId}`
  if (tokens.length >= maxTokens) {
    const detail = `You have ${maxTokens} API tokens, which is the most. Delete one first.`
    throw new Problem('conflict', { detail })
  }
  return createToken(connection, { userId, tenantId }, wanted, clientInfo)
}
