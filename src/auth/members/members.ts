import type { PgBoss } from 'pg-boss'
import type { Member as Manager, TenantScope } from '#src/access/caller.ts'
import { managingRole, permissionsOf, rolesWith } from '#src/access/roles.ts'
import type { Refusals } from '#src/actions/action.ts'
import { type ClientInfo, recordAudit } from '#src/audit/audit.ts'
import { sendRevocations } from '#src/auth/provider-tokens/retire.ts'
import type { Tx } from '#src/db/database.ts'
import type { Entry } from '#src/db/entry.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { keyset, type TimeRange, timeConditions, timeOfMicroseconds } from '#src/db/keyset.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { type Count, idForm, maxCounted, type Page, pageOf } from '#src/http/lists/pagination.ts'
import { Problem } from '#src/http/problems.ts'
import type { Reader } from '#src/mail/message.ts'
import { addHook } from '#src/queue/app/hooks.ts'
import { endInvitationsOf, recordEndedInvitations } from './invitations.ts'

/** An admin who manages the members of their tenant. */
export type Admin = Pick<Manager, 'userId' | 'tenantId'>

export type Member = {
  id: number
  /** The `name` claim of the latest sign-in. */
  name: string | null
  email: string | null
  role: string
  department: string | null
  /** Only in the user's own tenant, where their invoices are; null in any other. */
  billingCustomer: string | null
  /** When the user became a member of the tenant. */
  createdAt: string
}

export type MemberChange = {
  role?: string
  department?: string | null
}

/** A member as a page showed them, against lost updates. */
export type ShownBefore = { readonly role: string; readonly department: string | null }

export type MemberRefusal =
  /** Not a member of the tenant, whether the user exists or not. */
  | 'missing'
  | 'last-admin'
  /** Somebody else changed the member since the page was shown. */
  | 'changed'

/**
 * The entry of an admin who changes a member. The rows of all admins and of the member are locked in one order
 * before the rights of the caller are read for good: two admins who change each other wait instead of
 * deadlocking, and the second is no longer an admin.
 */
export function withMembersLocked<Facts extends TenantScope>(
  entry: Entry<Facts>,
  id: number,
): Entry<Facts> {
  return { ...entry, lockFirst: (tx, rows) => lockMembers(tx, entry.admit(rows), id) }
}

/** A row of `memberColumns`. */
export type MemberRow = {
  id: string
  name: string | null
  email: string | null
  role: string
  department: string | null
  billing_customer: string | null
  created_at: Date
}

/** Columns of `tenant_members m` and `users u`. */
const memberColumns = `
  m.user_id AS id, u.name, u.email, m.role, m.department, m.created_at,
  CASE WHEN u.own_tenant_id = m.tenant_id THEN u.billing_customer END AS billing_customer`

/** The cursor: microseconds since 1970 of the time of joining, and the id. */
export const memberList = { name: 'members', forms: [/^\d{1,16}$/, idForm] }

export type MemberFilter = TimeRange & {
  readonly role?: string | undefined
  readonly department?: string | undefined
  /** Part of a name or an address, in any case, or the id of a user. */
  readonly search?: string | undefined
}

/** The members of the tenant, newest members first. */
export async function listMembers(
  tx: Tx,
  scope: TenantScope,
  page: Page,
  filter: MemberFilter = {},
) {
  const [micros, id] = page.after ?? []
  const last =
    micros === undefined || id === undefined
      ? null
      : [timeOfMicroseconds(micros), Prisma.sql`${id}::bigint`]
  const conditions = [
    memberConditions(scope, filter),
    keyset([Prisma.sql`m.created_at`, Prisma.sql`m.user_id`], last, page),
  ]
  const rows = await tx.sql<MemberRow & { position: string }>`
    SELECT ${Prisma.raw(memberColumns)},
           (extract(epoch FROM m.created_at) * 1000000)::bigint::text AS position
    FROM tenant_members m JOIN users u ON u.id = m.user_id
    WHERE ${Prisma.join(conditions, ' AND ')}`
  return pageOf(rows, page, memberList.name, (row) => [row.position, String(row.id)], toMember)
}

/** How many members such a list has. */
export async function countMembers(
  tx: Tx,
  scope: TenantScope,
  filter: MemberFilter,
): Promise<Count> {
  const [counted] = await tx.sql<{ rows: number }>`
    SELECT count(*)::int AS rows FROM (
      SELECT FROM tenant_members m JOIN users u ON u.id = m.user_id
      WHERE ${memberConditions(scope, filter)} LIMIT ${maxCounted + 1}) AS listed`
  const { rows = 0 } = counted ?? {}
  return { rows: Math.min(rows, maxCounted), more: rows > maxCounted }
}

function memberConditions(
  { tenantId }: TenantScope,
  { role, department, search, ...range }: MemberFilter,
): Prisma.Sql {
  const conditions = [
    Prisma.sql`m.tenant_id = ${tenantId}::uuid`,
    ...(role === undefined ? [] : [Prisma.sql`m.role = ${role}`]),
    ...(department === undefined ? [] : [Prisma.sql`m.department = ${department}`]),
    ...(search === undefined
      ? []
      : [
          Prisma.sql`(strpos(lower(u.email), lower(${search})) > 0 OR strpos(lower(u.name), lower(${search})) > 0 OR u.id::text = ${search})`,
        ]),
    ...timeConditions(Prisma.sql`m.created_at`, range),
  ]
  return Prisma.join(conditions, ' AND ')
}

/** The names of these users, or their addresses, as far as they are members of the tenant. */
export async function findMemberNames(
  tx: Tx,
  { tenantId }: TenantScope,
  userIds: readonly number[],
): Promise<Map<number, string | null>> {
  const rows = await tx.user.findMany({
    where: { id: { in: userIds.map(BigInt) }, memberships: { some: { tenantId } } },
    select: { id: true, email: true, name: true },
  })
  return new Map(rows.map(({ id, email, name }) => [Number(id), name ?? email]))
}

/** The providers whose groups decide the role of these members (`OIDC_<NAME>_ROLE_MAP`), by user. */
export async function findRoleProviders(
  tx: Tx,
  { tenantId }: TenantScope,
  userIds: readonly number[],
): Promise<Map<number, string>> {
  const rows = await tx.membership.findMany({
    where: { tenantId, userId: { in: userIds.map(BigInt) }, roleProvider: { not: null } },
    select: { userId: true, roleProvider: true },
  })
  return new Map(rows.map(({ userId, roleProvider }) => [Number(userId), roleProvider ?? '']))
}

function toMember(row: MemberRow): Member {
  return {
    id: Number(row.id),
    name: row.name,
    email: row.email,
    role: row.role,
    department: row.department,
    billingCustomer: row.billing_customer,
    createdAt: row.created_at.toISOString(),
  }
}

/**
 * Changes a member; the change applies from their next request. The last admin of a tenant cannot
 * be demoted. The open invitations of a demoted admin end.
 * @param before refuses the change unless the member still is like this
 */
export async function changeMember(
  connection: Queryable,
  admin: Admin,
  id: number,
  change: MemberChange,
  clientInfo: ClientInfo,
  before?: ShownBefore,
): Promise<Member | MemberRefusal> {
  const { userId, tenantId } = admin
  const audit = { action: 'user-update', userId, tenantId, target: String(id) } as const
  const member = await findLockedMember(connection, admin, id)
  if (member === null) return 'missing'
  if (before && (before.role !== member.role || before.department !== member.department)) {
    return 'changed'
  }
  const { role = member.role } = change
  if (member.isLastAdmin && role !== managingRole) {
    const refused = { ...audit, outcome: 'refused', reason: 'last-admin' } as const
    await recordAudit(connection, refused, clientInfo)
    return 'last-admin'
  }
  for (const reason of reasonsOf(change)) {
    await recordAudit(connection, { ...audit, outcome: 'done', reason }, clientInfo)
  }
  if (!permissionsOf(role).includes('user:manage')) {
    await endInvitationsOf(connection, admin, id, clientInfo)
  }
  return updateMember(connection, tenantId, id, { ...member, ...change })
}

/**
 * Removes a member. Foreign keys delete their sessions and API tokens in the tenant, and their open
 * invitations end; a worker clears the author of their posts. With the last membership the user is
 * deleted and their provider grants are retired.
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
  const [removed] = await connection.sql<RemovedRow>`
    SELECT user_gone, revocations, invitations FROM remove_member(${id})`
  if (removed === undefined) return 'missing'
  await addHook(connection, 'user.left', tenantId, { userId: id })
  await sendRevocations(connection, queue, removed.revocations)
  const reason = removed.user_gone ? 'last-membership' : 'member-elsewhere'
  await recordAudit(connection, { ...audit, outcome: 'done', reason }, clientInfo)
  await recordEndedInvitations(connection, admin, removed.invitations, clientInfo)
  return 'removed'
}

type RemovedRow = { user_gone: boolean; revocations: string[]; invitations: string[] }

type LockedMember = { role: string; department: string | null; isLastAdmin: boolean }

/** Locks the rows of the member and of all admins, in one order. */
async function lockMembers(
  connection: Queryable,
  { tenantId }: TenantScope,
  id: number,
): Promise<MemberLine[]> {
  return connection.sql<MemberLine>`
    SELECT user_id, role, department FROM lock_members(${tenantId}, ${id})`
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
  const admins = rows.filter((row) => row.role === managingRole)
  const { role, department } = member
  return { role, department, isLastAdmin: role === managingRole && admins.length === 1 }
}

/** The reason codes for the audit log. */
function reasonsOf({ role, department }: MemberChange): string[] {
  return [
    ...(role === undefined ? [] : [`role-${role}`]),
    ...(department === undefined ? [] : ['department']),
  ]
}

async function updateMember(
  connection: Queryable,
  tenantId: string,
  id: number,
  { role, department }: { role: string; department: string | null },
): Promise<Member | 'missing'> {
  const [row] = await connection.sql<MemberRow>`
    SELECT * FROM change_member(${tenantId}, ${id}, ${role}, ${department})`
  return row === undefined ? 'missing' : toMember(row)
}

/** The problems of a refused change of members. */
export const memberRefusals = {
  changed: { code: 'precondition-failed' },
  missing: { code: 'not-found' },
  'last-admin': { code: 'last-admin', detail: 'Make another member an admin first.' },
} as const satisfies Refusals

/** The problem of a refused change of members. */
export function memberProblem(refusal: MemberRefusal): Problem {
  const { code, ...options } = memberRefusals[refusal]
  return new Problem(code, options)
}

const maxManagers = 50

/** Up to 50 members with permission `user:manage` and a verified address. */
export async function listManagers(tx: Tx, { tenantId }: TenantScope): Promise<Reader[]> {
  const rows = await tx.membership.findMany({
    where: {
      tenantId,
      role: { in: rolesWith('user:manage') },
      user: { emailVerified: true, email: { not: null } },
    },
    orderBy: { userId: 'asc' },
    take: maxManagers,
    select: { user: { select: { email: true, locale: true } } },
  })
  return rows.flatMap(({ user: { email, locale } }) =>
    email === null ? [] : [{ address: email, locale }],
  )
}
