import type { TenantScope } from '#src/access/caller.ts'
import type { Actor } from '#src/audit/audit.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { type ProgramTokens, tokenListForms } from './store.ts'

/** Service tokens that a tenant can have, including expired ones. */
export const maxServiceTokens = 50

/** The service tokens of the tenant. */
export const serviceTokens: ProgramTokens<TenantScope, Actor> = {
  prefix: 'service',
  name: 'service-token',
  list: { name: 'service-tokens', forms: tokenListForms },
  table: Prisma.sql`service_tokens`,
  columns: Prisma.sql`
    permissions, created_by AS "createdBy", secret_rotated_at AS "secretRotatedAt", tenant_id AS "tenantId"`,
  within: ({ tenantId }) => Prisma.sql`tenant_id = ${tenantId}::uuid`,
  max: maxServiceTokens,
  lock: 'service-tokens',
  lockKey: ({ tenantId }) => [tenantId],
  full: `The tenant has ${maxServiceTokens} service tokens`,
  more: Prisma.sql`tenant_id, created_by`,
  valuesOf: ({ tenantId, userId }) => Prisma.sql`${tenantId}::uuid, ${userId}`,
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
