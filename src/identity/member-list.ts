import type { TenantScope, Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { idForm, type Page, pageOf } from '#src/http/pagination.ts'

export type Member = {
  id: number
  email: string | null
  role: string
  department: string | null
  /** Only in the user's own tenant: their invoices go there. */
  billingCustomer: string | null
  /** When the user first signed in. */
  createdAt: string
}

/** A row of the members of a tenant, selected by `memberColumns`. */
export type MemberRow = {
  id: bigint | string
  email: string | null
  role: string
  department: string | null
  billing_customer: string | null
  created_at: Date
}

/** Of `tenant_members m` and `users u`. */
export const memberColumns = `
  m.user_id AS id, u.email, m.role, m.department, u.created_at,
  CASE WHEN u.own_tenant_id = m.tenant_id THEN u.billing_customer END AS billing_customer`

export const memberList = { name: 'members', forms: [idForm] }

/** The members of the tenant, newest users first. */
export async function listMembers(tx: Tx, scope: TenantScope, page: Page) {
  const [last] = page.after ?? []
  const behind = last === undefined ? Prisma.empty : Prisma.sql`AND m.user_id < ${last}::bigint`
  const rows = await tx.$queryRaw<MemberRow[]>`
    SELECT ${Prisma.raw(memberColumns)}
    FROM tenant_members m JOIN users u ON u.id = m.user_id
    WHERE m.tenant_id = ${scope.tenantId}::uuid ${behind}
    ORDER BY m.user_id DESC LIMIT ${page.limit + 1}`
  return pageOf(rows, page, memberList.name, (row) => [String(row.id)], toMember)
}

export function toMember(row: MemberRow): Member {
  return {
    id: Number(row.id),
    email: row.email,
    role: row.role,
    department: row.department,
    billingCustomer: row.billing_customer,
    createdAt: row.created_at.toISOString(),
  }
}
