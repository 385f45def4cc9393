import type { PgBoss } from 'pg-boss'
import type { Member as Manager, TenantScope } from '#src/access/caller.ts'
import { rolesWith } from '#src/access/roles.ts'
import { type ClientInfo, recordAudit } from '#src/audit/audit.ts'
import { sendRevocations } from '#src/auth/provider-tokens/retire.ts'
import type { Database, Tx } from '#src/db/database.ts'
import { type Entry, withoutLocks } from '#src/db/entry.ts'
import { isUniqueViolation } from '#src/db/errors.ts'
import { Prisma } from '#src/db/generated/client.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { idForm, type Page, pageOf } from '#src/http/pagination.ts'
import { Problem } from '#src/http/problems.ts'

/** An admin who manages the members of their tenant. */
export type Admin = Pick<Manager, 'userId' | 'tenantId'>

export type Member = {
  id: number
  email: string | null
  role: string
  department: string | null
  /** Only in the user's own tenant, where their invoices are; null in any other. */
  billingCustomer: string | null
  /** When the user first signed in. */
  createdAt: string
}

export type MemberChange = {
  role?: 'viewer' | 'editor' | 'admin'
  department?: string | null
  /** The user's customer id at the billing provider; null for none. */
  billingCustomer?: string | null
}

export type MemberRefusal =
  /** Not a member of the tenant, whether the user exists or not. */
  | 'missing'
  | 'last-admin'
  /** The tenant is not the user's own. */
  | 'billing-elsewhere'
  /** Another user has the customer id. */
  | 'customer-taken'

/**
 * Runs `work` in a transaction that an admin's credential has opened. The rows of all admins and of
 * the member are locked in one order before the rights of the caller are read for good: two admins
 * who change each other wait instead of deadlocking, and the second is no longer an admin.
 */
export async function writeAsAdmin<T, Facts extends Admin>(
  db: Pick<Database, 'transaction'>,
  entry: Entry<Facts>,
  id: number,
  work: (connection: Queryable, admin: Facts) => Promise<T>,
): Promise<T> {
  return db.transaction(withoutLocks(entry), async (connection, { tenantId }) => {
    await lockMembers(connection, { tenantId }, id)
    const { text, values = [] } = entry.statement(true)
    const { rows } = await connection.query({ text, values: [...values] })
    return work(connection, entry.admit(rows))
  })
}

/** A row of `memberColumns`. */
export type MemberRow = {
  id: bigint | string
  email: string | null
  role: string
  department: string | null
  billing_customer: string | null
  created_at: Date
}

/** Columns of `tenant_members m` and `users u`. */
const memberColumns = `
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

function toMember(row: MemberRow): Member {
  return {
    id: Number(row.id),
    email: row.email,
    role: row.role,
    department: row.department,
    billingCustomer: row.billing_customer,
    createdAt: row.created_at.toISOString(),
  }
}

/**
 * Changes a member; the change applies from their next request. The last admin of a tenant cannot
 * be demoted. The billing customer belongs to the user, so it is changed only in the user's own
 * tenant.
 */
export async function changeMember(
  connection: Queryable,
  admin: Admin,
  id: number,
  change: MemberChange,
  clientInfo: ClientInfo,
): Promise<Member | MemberRefusal> {
  const { userId, tenantId } = admin
  const audit = { action: 'user-update', userId, tenantId, target: String(id) } as const
  const member = await findLockedMember(connection, admin, id)
  if (member === null) return 'missing'
  const refusal = await findRefusal(connection, tenantId, id, member, change)
  if (refusal !== null) {
    await recordAudit(connection, { ...audit, outcome: 'refused', reason: refusal }, clientInfo)
    return refusal
  }
  for (const reason of reasonsOf(change)) {
    await recordAudit(connection, { ...audit, outcome: 'done', reason }, clientInfo)
  }
  return updateMember(connection, tenantId, id, { ...member, ...change })
}

/**
 * Removes a member. Foreign keys delete their sessions and API tokens in the tenant and clear the
 * author of their posts. With the last membership the user is deleted and their provider grants are
 * retired.
 */
export async function removeMember(
  connection: Queryable,
  queue: PgBoss,
  admin: Admin,
  id: number,
  clientInfo: ClientInfo,
): Promise<'removed' | Extract<MemberRefusal, 'missing' | 'last-admin'>> {
  const { userId, tenantId } = admin
  const audit = { action: 'user-remove', userId, tenantId, target: String(id) } as const
  const member = await findLockedMember(connection, admin, id)
  if (member === null) return 'missing'
  if (member.isLastAdmin) {
    const refused = { ...audit, outcome: 'refused', reason: 'last-admin' } as const
    await recordAudit(connection, refused, clientInfo)
    return 'last-admin'
  }
  const { rows } = await connection.query<{ user_gone: boolean; revocations: string[] }>({
    text: 'SELECT user_gone, revocations FROM remove_member($1)',
    values: [id],
  })
  const [removed] = rows
  if (removed === undefined) return 'missing'
  await sendRevocations(connection, queue, removed.revocations)
  const reason = removed.user_gone ? 'last-membership' : 'member-elsewhere'
  await recordAudit(connection, { ...audit, outcome: 'done', reason }, clientInfo)
  return 'removed'
}

type LockedMember = { role: string; department: string | null; isLastAdmin: boolean }

/** Locks the rows of the member and of all admins, in one order. */
async function lockMembers(
  connection: Queryable,
  { tenantId }: TenantScope,
  id: number,
): Promise<MemberLine[]> {
  const { rows } = await connection.query<MemberLine>({
    text: `SELECT user_id, role, department FROM tenant_members
           WHERE tenant_id = $1 AND (role = 'admin' OR user_id = $2)
           ORDER BY user_id FOR UPDATE`,
    values: [tenantId, id],
  })
  return rows
}

type MemberLine = { user_id: string; role: string; department: string | null }

/** The member, locked together with all admins; null if they are not a member of the tenant. */
async function findLockedMember(
  connection: Queryable,
  scope: TenantScope,
  id: number,
): Promise<LockedMember | null> {
  const rows = await lockMembers(connection, scope, id)
  const member = rows.find(({ user_id }) => Number(user_id) === id)
  if (member === undefined) return null
  const admins = rows.filter((row) => row.role === 'admin')
  const { role, department } = member
  return { role, department, isLastAdmin: role === 'admin' && admins.length === 1 }
}

async function findRefusal(
  connection: Queryable,
  tenantId: string,
  id: number,
  member: LockedMember,
  { role, billingCustomer }: MemberChange,
): Promise<'last-admin' | 'billing-elsewhere' | 'customer-taken' | null> {
  if (member.isLastAdmin && role !== undefined && role !== 'admin') return 'last-admin'
  if (billingCustomer === undefined) return null
  const { rows } = await connection.query<{ own: boolean | null; taken: boolean }>({
    text: `
      SELECT own_tenant_id = $2 AS own, is_customer_taken($3, $1) AS taken
      FROM users WHERE id = $1`,
    values: [id, tenantId, billingCustomer],
  })
  if (rows[0]?.own !== true) return 'billing-elsewhere'
  return rows[0].taken ? 'customer-taken' : null
}

/** The reason codes for the audit log. */
function reasonsOf({ role, department, billingCustomer }: MemberChange): string[] {
  return [
    ...(role === undefined ? [] : [`role-${role}`]),
    ...(department === undefined ? [] : ['department']),
    ...(billingCustomer === undefined ? [] : ['billing-customer']),
  ]
}

async function updateMember(
  connection: Queryable,
  tenantId: string,
  id: number,
  { role, department, billingCustomer }: Omit<MemberChange, 'role'> & { role: string },
): Promise<Member | 'missing'> {
  if (billingCustomer !== undefined) {
    await connection
      .query({
        text: 'UPDATE users SET billing_customer = $3 WHERE id = $1 AND own_tenant_id = $2',
        values: [id, tenantId, billingCustomer],
      })
      .catch(refuseTakenCustomer)
  }
  const { rows } = await connection.query<MemberRow>({
    text: `
      UPDATE tenant_members m SET role = $3, department = $4 FROM users u
      WHERE m.tenant_id = $1 AND m.user_id = $2 AND u.id = m.user_id
      RETURNING ${memberColumns}`,
    values: [tenantId, id, role, department ?? null],
  })
  const [row] = rows
  return row === undefined ? 'missing' : toMember(row)
}

/** A concurrent request gave the customer id to another user. */
function refuseTakenCustomer(error: unknown): never {
  throw isUniqueViolation(error) ? toMemberProblem('customer-taken') : error
}

/** The problem response for a refused change of members. */
export function toMemberProblem(refusal: MemberRefusal | 'member-already'): Problem {
  switch (refusal) {
    case 'missing':
      return new Problem('not-found')
    case 'last-admin':
      return new Problem('last-admin', { detail: 'Make another member an admin first.' })
    case 'billing-elsewhere':
      return new Problem('forbidden', {
        detail: 'The billing customer of a user can only be changed in the user’s own tenant.',
      })
    case 'customer-taken':
      return new Problem('conflict', { detail: 'Another user has this billing customer.' })
    case 'member-already':
      return new Problem('conflict', { detail: 'The user with this e-mail is already a member.' })
  }
}

const maxManagers = 50

/** Verified addresses of up to 50 members with permission `user:manage`. */
export async function listManagerAddresses(tx: Tx, { tenantId }: TenantScope): Promise<string[]> {
  const rows = await tx.membership.findMany({
    where: {
      tenantId,
      role: { in: rolesWith('user:manage') },
      user: { emailVerified: true, email: { not: null } },
    },
    orderBy: { userId: 'asc' },
    take: maxManagers,
    select: { user: { select: { email: true } } },
  })
  return rows.flatMap(({ user }) => (user.email === null ? [] : [user.email]))
}
