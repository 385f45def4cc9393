import Type from 'typebox'
import type { OwnerScope, TenantScope } from '#src/access/caller.ts'
import type { Tx } from '#src/db/database.ts'
import type { Prisma } from '#src/db/generated/client.ts'
import { idForm, olderThan, type Page, pageOf } from '#src/http/pagination.ts'
import { Id, Nullable, PageOf, Time, Uuid } from '#src/http/schemas.ts'

/** One page of the audit log, for the user and for the tenant's admins. */
export const AuditPage = PageOf(
  Type.Object({
    id: Id,
    at: Time,
    action: Type.String({ description: 'The action, such as `sign-in`' }),
    outcome: Type.String({ description: '`done`, `refused`, `unavailable` or `failed`' }),
    reason: Nullable(
      Type.String({ description: 'Stable code: why it was refused or how it was done' }),
    ),
    provider: Nullable(Type.String()),
    providerError: Nullable(
      Type.String({ description: 'The `error` code that the provider sent' }),
    ),
    target: Nullable(
      Type.String({
        description:
          'Id of the session, token, tenant, invitation, user, customer, endpoint or delivery concerned',
      }),
    ),
    userId: Nullable(Id),
    tenantId: Nullable(Uuid),
    ip: Nullable(Type.String({ description: 'The network part of the address' })),
    userAgent: Nullable(Type.String()),
  }),
)

export const ownAuditList = { name: 'own-audit', forms: [idForm] }
export const tenantAuditList = { name: 'tenant-audit', forms: [idForm] }

/** Audit entries about the user's account, newest first. */
export function listOwnAudit(tx: Tx, owner: OwnerScope, page: Page) {
  return list(tx, { userId: owner.userId }, page, ownAuditList.name)
}

/** Audit entries of the tenant, newest first. */
export function listTenantAudit(tx: Tx, scope: TenantScope, page: Page) {
  return list(tx, { tenantId: scope.tenantId }, page, tenantAuditList.name)
}

async function list(tx: Tx, scope: Prisma.AuditEntryWhereInput, page: Page, name: string) {
  const rows = await tx.auditEntry.findMany({
    where: { ...scope, ...olderThan(page) },
    orderBy: { id: 'desc' },
    take: page.limit + 1,
  })
  return pageOf(
    rows,
    page,
    name,
    (row) => [String(row.id)],
    (row) => ({
      id: Number(row.id),
      at: row.at.toISOString(),
      action: row.action,
      outcome: row.outcome,
      reason: row.reason,
      provider: row.provider,
      providerError: row.providerError,
      target: row.target,
      userId: row.userId === null ? null : Number(row.userId),
      tenantId: row.tenantId,
      ip: row.ip,
      userAgent: row.userAgent,
    }),
  )
}
