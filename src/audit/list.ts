import Type from 'typebox'
import type { OwnerScope, TenantScope } from '#src/access/caller.ts'
import type { Tx } from '#src/db/database.ts'
import type { Prisma } from '#src/db/generated/client.ts'
import { type TimeRange, within } from '#src/db/keyset.ts'
import { OwnId } from '#src/http/fields.ts'
import {
  byId,
  type Count,
  idForm,
  maxCounted,
  type Page,
  pageOf,
} from '#src/http/lists/pagination.ts'
import { IdFilter, SortBy } from '#src/http/lists/query.ts'
import { explained, Id, means, Nullable, PageOf, PageQuery, Time, Uuid } from '#src/http/schemas.ts'

/** One page of the audit log, for the user and for the tenant's admins. */
export const AuditPage = PageOf(
  Type.Object(
    {
      id: OwnId,
      at: means(Time, 'When it happened, in UTC'),
      action: Type.String({
        description:
          'The action, such as `sign-in`; `row-action` for an action of the app’s own, which `reason` names',
      }),
      outcome: Type.String({ description: '`done`, `refused`, `unavailable` or `failed`' }),
      reason: Nullable(
        Type.String({
          description:
            'Stable code: why it was refused or how it was done; of a `row-action` the resource and the action, such as `task:close`',
        }),
      ),
      provider: Nullable(
        Type.String({ description: 'The sign-in provider that took part; null if none did' }),
      ),
      providerError: Nullable(
        Type.String({ description: 'The `error` code that the provider sent' }),
      ),
      target: Nullable(
        Type.String({
          description:
            'Id of the session, token, tenant, invitation, user, customer, endpoint, delivery or row concerned',
        }),
      ),
      userId: Nullable(
        means(Id, 'The person who did it; null for a service, the app or the program itself'),
      ),
      serviceId: Nullable(
        Type.String({ ...Uuid, description: 'The service or app token that did it' }),
      ),
      serviceName: Nullable(Type.String({ description: 'The name of this token at that time' })),
      portalSessionId: Nullable(
        Type.String({
          ...Uuid,
          description: 'The session in the portal: the `id` of the link of the app that opened it',
        }),
      ),
      tenantId: Nullable(means(Uuid, 'Where it happened; null if it concerns no tenant')),
      ip: Nullable(Type.String({ description: 'The network part of the address' })),
      userAgent: Nullable(
        Type.String({ description: '`User-Agent` of the request; null if it had none' }),
      ),
    },
    { title: 'AuditEntry' },
  ),
)

/** The query of both lists. */
export const AuditQuery = Type.Object(
  {
    ...PageQuery.properties,
    from: Type.Optional(Type.String({ ...Time, description: 'At this time or later' })),
    to: Type.Optional(Type.String({ ...Time, description: 'Before this time' })),
    action: Type.Optional(
      Type.String({
        pattern: explained(
          '^[a-z][a-z-]{0,63}(:[a-z][a-z-]{0,63})?$',
          'must be an action, such as sign-in or task:close',
        ),
        description: 'Such as `sign-in`, or `task:close` for an action of the app’s own',
      }),
    ),
    sort: SortBy('at'),
  },
  { additionalProperties: false },
)
export const TenantAuditQuery = Type.Object(
  { ...AuditQuery.properties, userId: Type.Optional(IdFilter('By this user')) },
  { additionalProperties: false },
)

export const ownAuditList = { name: 'own-audit', forms: [idForm] }
export const tenantAuditList = { name: 'tenant-audit', forms: [idForm] }

export type AuditFilter = TimeRange & { readonly action?: string | undefined }
export type TenantAuditFilter = AuditFilter & {
  readonly userId?: string | undefined
  readonly outcome?: string | undefined
}

/** Audit entries about the user's account, newest first. */
export function listOwnAudit(tx: Tx, owner: OwnerScope, page: Page, filter: AuditFilter = {}) {
  return list(tx, { userId: owner.userId }, page, filter, ownAuditList.name)
}

/** The users that entries are by or about. */
export function usersIn(
  entries: readonly { userId: number | null; action: string; target: string | null }[],
): number[] {
  return entries.flatMap(({ userId, action, target }) => [
    ...(userId === null ? [] : [userId]),
    ...(action.startsWith('user-') && target !== null ? [Number(target)] : []),
  ])
}

/** Audit entries of the tenant, newest first. */
export function listTenantAudit(
  tx: Tx,
  scope: TenantScope,
  page: Page,
  filter: TenantAuditFilter = {},
) {
  return list(tx, whereOf(scope, filter), page, filter, tenantAuditList.name)
}

/** How many entries the list of a person has. */
export function countOwnAudit(tx: Tx, { userId }: OwnerScope, filter: AuditFilter) {
  return count(tx, { userId, ...conditionsOf(filter) })
}

/** How many entries the list of a tenant has. */
export function countTenantAudit(tx: Tx, scope: TenantScope, filter: TenantAuditFilter) {
  return count(tx, { ...whereOf(scope, filter), ...conditionsOf(filter) })
}

async function count(tx: Tx, where: Prisma.AuditEntryWhereInput): Promise<Count> {
  const rows = await tx.auditEntry.count({ where, take: maxCounted + 1 })
  return { rows: Math.min(rows, maxCounted), more: rows > maxCounted }
}

function whereOf({ tenantId }: TenantScope, { userId, outcome }: TenantAuditFilter) {
  return {
    tenantId,
    ...(userId !== undefined && { userId: BigInt(userId) }),
    ...(outcome !== undefined && { outcome }),
  }
}

function conditionsOf({ action, from, to }: AuditFilter): Prisma.AuditEntryWhereInput {
  const at = within({ from, to })
  return { ...(action !== undefined && named(action)), ...(at && { at }) }
}

/** The entries of an action; `task:close` is that action of the app's own. */
function named(action: string): Prisma.AuditEntryWhereInput {
  return action.includes(':') ? { action: 'row-action', reason: action } : { action }
}

async function list(
  tx: Tx,
  scope: Prisma.AuditEntryWhereInput,
  page: Page,
  filter: AuditFilter,
  name: string,
) {
  const { where, ...order } = byId(page)
  const rows = await tx.auditEntry.findMany({
    where: { ...scope, ...conditionsOf(filter), ...where },
    ...order,
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
      serviceId: row.serviceId,
      serviceName: row.serviceName,
      portalSessionId: row.portalSessionId,
      tenantId: row.tenantId,
      ip: row.ip,
      userAgent: row.userAgent,
    }),
  )
}
