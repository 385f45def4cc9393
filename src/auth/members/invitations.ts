import Type from 'typebox'
import type { Member, TenantScope } from '#src/access/caller.ts'
import { type ClientInfo, recordAudit } from '#src/audit/audit.ts'
import type { Tx } from '#src/db/database.ts'
import { createdPosition, newestFirst, newestFirstForms } from '#src/db/keyset.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { type Page, pageOf } from '#src/http/pagination.ts'
import { Id, Nullable, Time, Uuid } from '#src/http/schemas.ts'

/** An invitation as the tenant's admins see it. */
export const Invitation = Type.Object({
  id: Uuid,
  email: Type.String({ description: 'In lower case' }),
  role: Type.String(),
  department: Nullable(Type.String()),
  invitedBy: Nullable(
    Type.Integer({ ...Id, description: 'null after the inviting user was deleted' }),
  ),
  createdAt: Time,
  expiresAt: Time,
  acceptedAt: Nullable(Time),
})

export type Invitation = {
  id: string
  tenantId: string
  /** With ASCII letters in lower case. */
  email: string
  role: string
  department: string | null
  /** The admin who sent the invitation; null after that user was deleted. */
  invitedBy: number | null
  createdAt: string
  expiresAt: string
  /** Set immediately if a user has the verified address, otherwise at the next sign-in with it. */
  acceptedAt: string | null
}

export type NewInvitation = {
  tenantId: string
  email: string
  role: 'viewer' | 'editor' | 'admin'
  department: string | null
  /** The admin who sends the invitation. */
  invitedBy: number
}

const lifetimeDays = 14

export type InvitationRow = {
  id: string
  tenant_id: string
  email: string
  role: string
  department: string | null
  invited_by: string | bigint | null
  created_at: Date
  expires_at: Date
  accepted_at: Date | null
}

/**
 * Invites an address into the tenant for 14 days; replaces an earlier invitation of the address. A
 * user who already has the verified address becomes a member immediately, any other at the next
 * sign-in with the verified address. The caller has checked the permission to invite.
 * @returns `member` if the user with the address is a member already; then nothing changes
 */
export async function createInvitation(
  connection: Queryable,
  invitation: NewInvitation,
  clientInfo: ClientInfo,
): Promise<Invitation | 'member'> {
  const holder = await findHolder(connection, invitation)
  if (holder?.member === true) return 'member'
  const { rows } = await connection.query<InvitationRow>({
    text: `
      INSERT INTO invitations AS i (tenant_id, email, role, department, invited_by, expires_at)
      VALUES ($1, lower($2 COLLATE "C"), $3, $4, $5, now() + make_interval(days => $6))
      ON CONFLICT (tenant_id, email) DO UPDATE
        SET role = excluded.role, department = excluded.department,
            invited_by = excluded.invited_by, created_at = now(),
            expires_at = excluded.expires_at, accepted_at = NULL
      RETURNING id, tenant_id, email, role, department, invited_by, created_at, expires_at,
                accepted_at`,
    values: [
      invitation.tenantId,
      invitation.email,
      invitation.role,
      invitation.department,
      invitation.invitedBy,
      lifetimeDays,
    ],
  })
  const [row] = rows
  if (row === undefined) throw new Error('The invitation was not stored.')
  await recordAudit(
    connection,
    {
      action: 'invitation-create',
      outcome: 'done',
      reason: 'invited',
      userId: invitation.invitedBy,
      tenantId: invitation.tenantId,
      target: row.id,
    },
    clientInfo,
  )
  if (holder === null) return toInvitation(row)
  await acceptInvitations(connection, row.email, holder.userId, clientInfo)
  return toInvitation({ ...row, accepted_at: row.created_at })
}

/** The user with this verified address, and whether they are a member of the tenant. */
async function findHolder(
  connection: Queryable,
  { email }: NewInvitation,
): Promise<{ userId: number; member: boolean } | null> {
  const { rows } = await connection.query<{ user_id: string; member: boolean }>({
    text: 'SELECT user_id, member FROM find_holder($1)',
    values: [email],
  })
  const [row] = rows
  return row === undefined ? null : { userId: Number(row.user_id), member: row.member }
}

/**
 * Deletes an open invitation.
 * @returns false if it does not exist, is accepted or belongs to another tenant
 */
export async function withdrawInvitation(
  connection: Queryable,
  admin: Pick<Member, 'userId' | 'tenantId'>,
  id: string,
  clientInfo: ClientInfo,
): Promise<boolean> {
  const { rowCount } = await connection.query({
    text: `DELETE FROM tenant_invitations
           WHERE tenant_id = $1 AND id = $2 AND accepted_at IS NULL`,
    values: [admin.tenantId, id],
  })
  if (rowCount !== 1) return false
  const entry = { action: 'invitation-delete', outcome: 'done', reason: 'withdrawn' } as const
  const { userId, tenantId } = admin
  await recordAudit(connection, { ...entry, userId, tenantId, target: id }, clientInfo)
  return true
}

/**
 * Accepts all open invitations of the address for the user. The caller has verified the address
 * through a provider that is trusted for it. A user who is already a member keeps their role.
 */
export async function acceptInvitations(
  connection: Queryable,
  email: string,
  userId: number,
  clientInfo: ClientInfo,
): Promise<void> {
  const { rows } = await connection.query<{ tenant_id: string; id: string }>({
    text: 'SELECT tenant_id, id FROM accept_invitations($1, $2)',
    values: [email, userId],
  })
  for (const { tenant_id: tenantId, id: target } of rows) {
    const accepted = { action: 'invitation-accept', outcome: 'done', reason: 'address' } as const
    await recordAudit(connection, { ...accepted, userId, tenantId, target }, clientInfo)
  }
}

export const invitationList = { name: 'invitations', forms: newestFirstForms }

/** The tenant's open invitations, newest first, including expired ones. */
export async function listInvitations(tx: Tx, scope: TenantScope, page: Page) {
  const rows = await tx.$queryRaw<(InvitationRow & { position: string })[]>`
    SELECT id, tenant_id, email, role, department, invited_by, created_at, expires_at, accepted_at,
           ${createdPosition}
    FROM tenant_invitations
    WHERE tenant_id = ${scope.tenantId}::uuid AND accepted_at IS NULL AND ${newestFirst(page)}`
  return pageOf(rows, page, invitationList.name, (row) => [row.position, row.id], toInvitation)
}

function toInvitation(row: InvitationRow): Invitation {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    email: row.email,
    role: row.role,
    department: row.department,
    invitedBy: row.invited_by === null ? null : Number(row.invited_by),
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    acceptedAt: row.accepted_at?.toISOString() ?? null,
  }
}
