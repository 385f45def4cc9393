import type { TenantScope, Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { type Page, pageOf } from '#src/http/pagination.ts'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export const tenantList = { name: 'tenants', forms: [/^[\s\S]{1,200}$/, uuid] }

/** Id and name of the tenant the session is in. */
export async function findTenant(tx: Tx, scope: TenantScope) {
  return tx.tenant.findFirst({
    where: { id: scope.tenantId },
    select: { id: true, name: true },
  })
}

type MembershipRow = { id: string; name: string; role: string }

/**
 * The tenants the user is a member of, by name; row-level security shows a person no others.
 * @param active the tenant the session is in
 */
export async function listMemberships(
  tx: Tx,
  owner: { readonly userId: number },
  active: string | null,
  page: Page,
) {
  const [name, id] = page.after ?? []
  const behind =
    name === undefined || id === undefined
      ? Prisma.empty
      : Prisma.sql`AND (t.name, t.id) > (${name}, ${id}::uuid)`
  // By hand: with a relation it would be two statements, and so one round trip more.
  const rows = await tx.$queryRaw<MembershipRow[]>`
    SELECT t.id, t.name, m.role FROM memberships m JOIN tenants t ON t.id = m.tenant_id
    WHERE m.user_id = ${owner.userId} ${behind}
    ORDER BY t.name, t.id LIMIT ${page.limit + 1}`
  return pageOf(
    rows,
    page,
    tenantList.name,
    (row) => [row.name, row.id],
    (row) => ({ ...row, active: row.id === active }),
  )
}
