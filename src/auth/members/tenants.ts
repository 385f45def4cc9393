import type { Caller, OwnerScope, TenantScope } from '#src/access/caller.ts'
import { scopeTenantId } from '#src/access/scope.ts'
import { type ClientInfo, recordAudit } from '#src/audit/audit.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { keyset } from '#src/db/keyset.ts'
import { oneStatement } from '#src/db/sql.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { type Page, pageOf } from '#src/http/lists/pagination.ts'
import { uuidForm } from '#src/http/schemas.ts'
import { addHook } from '#src/queue/app/hooks.ts'
import { type OwnInvitationRow, toOwnInvitation } from './own-invitations.ts'

// A name is any text that PostgreSQL can store: no NUL, no lone surrogate.
export const tenantList = { name: 'tenants', forms: [/^[^\0\p{Cs}]{1,200}$/u, uuidForm] }

/** Id and name of the active tenant. */
export async function findTenant(tx: Tx, scope: TenantScope) {
  return tx.tenant.findFirst({
    where: { id: scope.tenantId },
    select: { id: true, name: true },
  })
}

/** A person who is a member of this many tenants cannot create another one. */
const mostTenants = 100

/**
 * Creates a tenant with the person as its admin, in the transaction of their session.
 * @returns its id; null if they are a member of `mostTenants` already
 */
export async function createTenant(
  tx: Tx,
  { userId }: OwnerScope,
  name: string,
  clientInfo: ClientInfo,
): Promise<string | null> {
  const [row] = await tx.sql<{ id: string | null }>`
    SELECT create_tenant(${name}, ${mostTenants}::integer) AS id`
  const tenantId = row?.id ?? null
  if (tenantId === null) return null
  await addHook(tx, 'tenant.created', tenantId, { userId })
  const entry = { action: 'tenant-create', outcome: 'done', reason: 'own-request' } as const
  await recordAudit(tx, { ...entry, userId, target: tenantId }, clientInfo)
  return tenantId
}

/** Renames the active tenant. Returns false if there is none. */
export async function renameTenant(
  tx: Tx,
  { userId, tenantId }: OwnerScope & TenantScope,
  name: string,
  clientInfo: ClientInfo,
): Promise<boolean> {
  const { count } = await tx.tenant.updateMany({ where: { id: tenantId }, data: { name } })
  if (count === 0) return false
  const entry = { action: 'tenant-rename', outcome: 'done', reason: 'own-request' } as const
  await recordAudit(tx, { ...entry, userId, tenantId, target: tenantId }, clientInfo)
  return true
}

type ProfileRow = {
  id: string | null
  name: string | null
  /** The name of the person. */
  userName: string | null
  invitations: OwnInvitationRow[] | null
  status: string | null
  periodEnd: Date | null
  cancelsAt: Date | null
}

const gives = (alias: 't' | 'u') =>
  `${alias}.plan IS NOT NULL AND coalesce(${alias}.subscription_cancels_at > now(), true)`
const isOfTenant = `t.subscription_status IS NOT NULL AND (${gives('t')} OR NOT (${gives('u')}))`
const deciding = (name: string) =>
  Prisma.raw(`CASE WHEN ${isOfTenant} THEN t.subscription_${name} ELSE u.subscription_${name} END`)

/**
 * The caller, their active tenant (null without one), their open invitations, and the subscription that decides their
 * plan: that of the tenant, if it gives a plan or they have none of their own.
 */
export const profile = oneStatement(
  Prisma.sql`
    SELECT t.id, t.name, u.name AS "userName", (SELECT json_agg(i) FROM own_invitations(NULL, NULL) i) AS invitations,
           ${deciding('status')} AS status, ${deciding('period_end')} AS "periodEnd",
           ${deciding('cancels_at')} AS "cancelsAt"
    FROM (SELECT) one LEFT JOIN tenants t ON t.id = ${scopeTenantId}
    LEFT JOIN users u ON u.id = (SELECT current_user_id())`,
  ([row]: ProfileRow[], caller: Caller) => {
    const { id = null, name = null, invitations = null, status = null } = row ?? {}
    return {
      caller,
      userName: row?.userName ?? null,
      tenant: id === null || name === null ? null : { id, name },
      invitations: (invitations ?? []).map(toOwnInvitation),
      /** Null if neither they nor the tenant ever had one. */
      subscription:
        row === undefined || status === null
          ? null
          : { status, periodEnd: row.periodEnd, cancelsAt: row.cancelsAt },
    }
  },
)

type MembershipRow = { id: string; name: string; role: string }

/**
 * The open tenants that the user is a member of, ordered by name. Row-level security hides all others.
 * @param active id of the session's active tenant
 */
export async function listMemberships(
  tx: Tx,
  owner: OwnerScope,
  active: string | null,
  page: Page,
) {
  const [name, id] = page.after ?? []
  const last =
    name === undefined || id === undefined ? null : [Prisma.sql`${name}`, Prisma.sql`${id}::uuid`]
  // The list ascends by name, so the order of the keys is the reverse.
  const inOrder = { ...page, isReversed: true }
  // Raw SQL, because Prisma would load the relation with a second statement.
  const rows = await tx.sql<MembershipRow>`
    SELECT t.id, t.name, m.role FROM memberships m JOIN tenants t ON t.id = m.tenant_id
    WHERE m.user_id = ${owner.userId}
      AND ${keyset([Prisma.sql`t.name`, Prisma.sql`t.id`], last, inOrder)}`
  return pageOf(
    rows,
    page,
    tenantList.name,
    (row) => [row.name, row.id],
    (row) => ({ ...row, active: row.id === active }),
  )
}

/** The role of the user in one of their open tenants; null in any other. */
export async function findOwnRole(
  connection: Queryable,
  { userId }: OwnerScope,
  tenantId: string,
): Promise<string | null> {
  const [row] = await connection.sql<{ role: string }>`
    SELECT m.role FROM memberships m JOIN tenants t ON t.id = m.tenant_id
    WHERE m.user_id = ${userId} AND t.id = ${tenantId} AND t.closed_at IS NULL`
  return row?.role ?? null
}
