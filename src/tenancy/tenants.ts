import { type Page, pageOf } from '#src/cursor.ts'
import type { Tx } from '#src/db/database.ts'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export const tenantList = { name: 'tenants', forms: [/^[\s\S]{1,200}$/, uuid] }

/** Id and name of the tenant the session is in. */
export async function findTenant(tx: Tx, scope: { readonly tenantId: string }) {
  return tx.tenant.findFirst({
    where: { id: scope.tenantId },
    select: { id: true, name: true },
  })
}

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
      ? {}
      : { OR: [{ tenant: { name: { gt: name } } }, { tenant: { name }, tenantId: { gt: id } }] }
  const rows = await tx.membership.findMany({
    where: { userId: owner.userId, ...behind },
    orderBy: [{ tenant: { name: 'asc' } }, { tenantId: 'asc' }],
    take: page.limit + 1,
    select: { tenantId: true, role: true, tenant: { select: { name: true } } },
  })
  return pageOf(
    rows,
    page,
    tenantList.name,
    (row) => [row.tenant.name, row.tenantId],
    (row) => ({
      id: row.tenantId,
      name: row.tenant.name,
      role: row.role,
      active: row.tenantId === active,
    }),
  )
}
