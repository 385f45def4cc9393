import type { TenantScope } from '#src/access/caller.ts'
import { type Actor, recordChange } from '#src/audit/audit.ts'
import { lastFourOf, randomApiToken } from '#src/crypto/api-token.ts'
import { lockUntilCommit } from '#src/db/advisory-lock.ts'
import type { Tx } from '#src/db/database.ts'
import type { Prisma } from '#src/db/generated/client.ts'
import { byCreation, creationForms, creationPosition } from '#src/db/keyset.ts'
import { type Page, pageOf } from '#src/http/lists/pagination.ts'
import { Problem } from '#src/http/problems.ts'
import {
  alreadyRotated,
  changedFields,
  daysAfter,
  defaultDays,
  hashOf,
  type ProgramToken,
  type ProgramTokenChange,
  type ProgramTokenFacts,
  type ProgramTokenRow,
  type ProgramTokenWithSecret,
  requireExpiry,
  toProgramToken,
} from '../program-tokens/program-tokens.ts'

/** Service tokens that a tenant can have, including expired ones. */
export const maxServiceTokens = 50

export const serviceTokenList = { name: 'service-tokens', forms: creationForms }

/** What is read of a token: not its hash. */
const shown = {
  id: true,
  name: true,
  lastFour: true,
  permissions: true,
  createdBy: true,
  createdAt: true,
  expiresAt: true,
  secretRotatedAt: true,
  lastUsedAt: true,
} as const satisfies Prisma.ServiceTokenSelect

/** The service tokens of the tenant, newest first. Expired ones are listed until the cleanup. */
export async function listServiceTokens(tx: Tx, { tenantId }: TenantScope, page: Page) {
  const { where, ...order } = byCreation(page)
  const rows = await tx.serviceToken.findMany({
    where: { tenantId, ...where },
    ...order,
    select: shown,
  })
  return pageOf(rows, page, serviceTokenList.name, creationPosition, toServiceToken)
}

function toServiceToken(row: ProgramTokenRow): ProgramToken {
  return toProgramToken('service', row)
}

/** A service token of the tenant; null if it is missing or another tenant's. */
export async function findServiceToken(tx: Tx, { tenantId }: TenantScope, id: string) {
  const row = await tx.serviceToken.findFirst({ where: { tenantId, id }, select: shown })
  return row && toServiceToken(row)
}

/**
 * As findServiceToken; locks the token until the transaction ends. The lock waits for unfinished writes
 * of the service, which hold a lock on the row.
 */
export async function lockServiceToken(tx: Tx, scope: TenantScope, id: string) {
  await tx.sql`
    SELECT 1 FROM service_tokens
    WHERE tenant_id = ${scope.tenantId}::uuid AND id = ${id}::uuid FOR UPDATE`
  return findServiceToken(tx, scope, id)
}

/** The names or addresses of those who created tokens of the tenant and are still its members. */
export async function findCreatorNames(
  tx: Tx,
  { tenantId }: TenantScope,
): Promise<Map<number, string | null>> {
  const ofTenant = { some: { tenantId } }
  const rows = await tx.user.findMany({
    where: { serviceTokens: ofTenant, memberships: ofTenant },
    select: { id: true, email: true, name: true },
  })
  return new Map(rows.map(({ id, email, name }) => [Number(id), name ?? email]))
}

/** The names of these services, as far as their tokens still exist. */
export async function findServiceNames(
  tx: Tx,
  { tenantId }: TenantScope,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const rows = await tx.serviceToken.findMany({
    where: { tenantId, id: { in: [...ids] } },
    select: { id: true, name: true },
  })
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/**
 * Creates a service token in the tenant of `by`.
 * @throws Problem `malformed` if `expiresAt` is not within `maxDays`, `conflict` if the tenant has
 *   `maxServiceTokens` already
 */
export async function createServiceToken(
  tx: Tx,
  by: Actor,
  { name, permissions, expiresAt }: ProgramTokenFacts,
  now: Date,
): Promise<ProgramTokenWithSecret> {
  const { tenantId, userId } = by
  requireExpiry(expiresAt, now)
  // Without the lock, two requests at once could both see room for one more.
  await lockUntilCommit(tx, 'service-tokens', tenantId)
  if ((await tx.serviceToken.count({ where: { tenantId } })) >= maxServiceTokens) {
    const detail = `The tenant has ${maxServiceTokens} service tokens, which is the most. Delete one first.`
    throw new Problem('conflict', { detail })
  }
  const secret = randomApiToken('service')
  // Prisma would read the hash back, which the role may not.
  const [created] = await tx.sql<{ id: string }>`
    INSERT INTO service_tokens (tenant_id, hash, last_four, name, permissions, created_by,
      created_at, expires_at)
    VALUES (${tenantId}::uuid, ${hashOf(secret)}, ${lastFourOf(secret)}, ${name}, ${[...permissions]}, ${userId}, ${now},
            ${expiresAt ?? daysAfter(now, defaultDays)})
    RETURNING id`
  const token = created && (await findServiceToken(tx, by, created.id))
  if (!token) throw new Error('The service token was not stored.')
  const reason = 'own-request'
  await recordChange(tx, by, { action: 'service-token-create', reason, target: token.id })
  return { ...token, token: secret }
}

/**
 * Changes the given fields. The next request of the service has the new permissions; a write that is
 * under way ends first.
 * @returns null if the token is missing or another tenant's
 * @throws Problem `malformed` if `expiresAt` is not within `maxDays`
 */
export async function changeServiceToken(
  tx: Tx,
  by: Actor,
  id: string,
  change: ProgramTokenChange,
  now: Date,
): Promise<ProgramToken | null> {
  const { name, permissions, expiresAt } = change
  requireExpiry(expiresAt ?? null, now)
  if ((await lockServiceToken(tx, by, id)) === null) return null
  await tx.serviceToken.updateMany({
    where: { tenantId: by.tenantId, id },
    data: {
      ...(name !== undefined && { name }),
      ...(permissions !== undefined && { permissions: [...permissions] }),
      ...(expiresAt != null && { expiresAt }),
    },
  })
  const reason = changedFields(change)
  await recordChange(tx, by, { action: 'service-token-change', reason, target: id })
  return findServiceToken(tx, by, id)
}

/**
 * Gives the token a new secret; the previous one ends at once, after the writes that are under way.
 * @returns null if the token is missing or another tenant's
 * @throws Problem `conflict` if another request has rotated it since this one began
 */
export async function rotateServiceToken(
  tx: Tx,
  by: Actor,
  id: string,
): Promise<ProgramTokenWithSecret | null> {
  const secret = randomApiToken('service')
  const rotated = await tx.sql`
    UPDATE service_tokens SET hash = ${hashOf(secret)}, last_four = ${lastFourOf(secret)},
      secret_rotated_at = clock_timestamp()
    WHERE tenant_id = ${by.tenantId}::uuid AND id = ${id}::uuid
      AND coalesce(secret_rotated_at < now(), true)
    RETURNING id`
  const token = await findServiceToken(tx, by, id)
  if (token === null) return null
  if (rotated.length === 0) throw alreadyRotated()
  const reason = 'own-request'
  await recordChange(tx, by, { action: 'service-token-rotate', reason, target: id })
  return { ...token, token: secret }
}

/** Deletes a token; its next request is refused. False if it is missing or another tenant's. */
export async function deleteServiceToken(tx: Tx, by: Actor, id: string): Promise<boolean> {
  const { count } = await tx.serviceToken.deleteMany({ where: { tenantId: by.tenantId, id } })
  if (count === 0) return false
  const reason = 'own-request'
  await recordChange(tx, by, { action: 'service-token-delete', reason, target: id })
  return true
}
