import type { PgBoss } from 'pg-boss'
import Type from 'typebox'
import type { Member, TenantScope } from '#src/access/caller.ts'
import { type ClientInfo, recordAudit } from '#src/audit/audit.ts'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { randomId } from '#src/crypto/hash.ts'
import { lockUntilCommit } from '#src/db/advisory-lock.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { createdPosition, newestFirst, newestFirstForms } from '#src/db/keyset.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { OwnUuid } from '#src/http/fields.ts'
import { type Page, pageOf } from '#src/http/lists/pagination.ts'
import { Id, means, Nullable, Time } from '#src/http/schemas.ts'
import { addJob } from '#src/queue/jobs.ts'
import { deriveLink } from './invitation-link.ts'
import { requireSeat } from './seats.ts'

/** An invitation as the tenant's admins see it. */
export const Invitation = Type.Object(
  {
    id: OwnUuid,
    email: Type.String({ description: 'Of the invited person, in lower case' }),
    role: Type.String({ description: 'That the person gets in the tenant' }),
    department: Nullable(
      Type.String({ description: 'That the person gets in the tenant; null for none' }),
    ),
    invitedBy: Nullable(means(Id, 'The admin who sent it last; null after that user was deleted')),
    createdAt: means(Time, 'When it was last sent, in UTC'),
    expiresAt: means(Time, 'When it can no longer be accepted: 14 days after it was sent'),
    acceptedAt: Nullable(means(Time, 'When the person became a member; null until then')),
  },
  { title: 'Invitation' },
)

export type Invitation = {
  id: string
  tenantId: string
  /** With ASCII letters in lower case. */
  email: string
  role: string
  department: string | null
  /** The admin who sent the invitation last; null after that user was deleted. */
  invitedBy: number | null
  createdAt: string
  expiresAt: string
  /** When the invited person became a member; null until then. */
  acceptedAt: string | null
  /** SHA-256 of the secret of its link. Not part of an answer. */
  linkHash: Uint8Array | null
}

export type NewInvitation = {
  tenantId: string
  email: string
  role: string
  department: string | null
  /** The admin who sends the invitation. */
  invitedBy: number
}

/** Why an address is not invited. */
export type InvitationRefusal = 'member' | 'full'

const lifetimeDays = 14

/** Whether an invitation can be sent again: it was not created or mailed today (UTC). */
const isDue = Prisma.sql`sent_at < date_trunc('day', now(), 'UTC') AS "isDue"`

/** The most open invitations of a tenant, because they all end at once when their inviter loses the right to invite. */
export const maxOpenInvitations = 1_000

/** The details of the refusals. */
export const invitationRefusals: Readonly<Record<InvitationRefusal, string>> = {
  member: 'The user with this e-mail is already a member.',
  full: `The tenant has ${maxOpenInvitations} open invitations, which is the most.`,
}

export type InvitationRow = {
  id: string
  tenant_id: string
  email: string
  role: string
  department: string | null
  invited_by: string | null
  created_at: Date
  expires_at: Date
  accepted_at: Date | null
  link_hash: Uint8Array | null
}

/**
 * Invites an address into the tenant for 14 days, and mails it if there is a mail server. An earlier
 * invitation of the address is replaced by one with another id, so people only accept a role that they
 * have seen. Says nothing about who has the address, if anyone. The caller has checked the
 * permission to invite.
 * @returns `member` if a member of the tenant has the verified address, `full` if
 *   `maxOpenInvitations` are open; then nothing changes
 * @throws Problem `limit-reached` beyond the seats that the tenant has bought
 */
export async function createInvitation(
  connection: Queryable,
  { queue, keys: [key] }: { queue: PgBoss; keys: EncryptionKeys },
  invitation: NewInvitation,
  clientInfo: ClientInfo,
): Promise<Invitation | InvitationRefusal> {
  // Of two at once the second counts the invitation of the first.
  await lockUntilCommit(connection, 'invitations', invitation.tenantId)
  const refusal = await findRefusal(connection, invitation)
  if (refusal !== null) return refusal
  await requireSeat(connection, invitation.email)
  const id = randomId()
  const { hash } = deriveLink(key, id)
  const [row] = await connection.sql<InvitationRow>`
    INSERT INTO invitations AS i
      (tenant_id, id, link_hash, email, role, department, invited_by, expires_at)
    VALUES (${invitation.tenantId}, ${id}::uuid, ${hash}, lower(${invitation.email} COLLATE "C"), ${invitation.role},
      ${invitation.department}, ${invitation.invitedBy},
      now() + make_interval(days => ${lifetimeDays}))
    ON CONFLICT (tenant_id, email) DO UPDATE
      SET id = excluded.id, role = excluded.role, department = excluded.department,
          invited_by = excluded.invited_by, created_at = now(),
          expires_at = excluded.expires_at, accepted_at = NULL, declined_at = NULL,
          mailed_at = NULL, link_hash = excluded.link_hash
    RETURNING id, tenant_id, email, role, department, invited_by, created_at, expires_at,
              accepted_at, link_hash`
  if (row === undefined) throw new Error('The invitation was not stored.')
  const { invitedBy: userId, tenantId } = invitation
  const created = { action: 'invitation-create', outcome: 'done', reason: 'invited' } as const
  await recordAudit(connection, { ...created, userId, tenantId, target: row.id }, clientInfo)
  await addJob(queue, connection, 'invitation-mail', { tenantId, invitationId: row.id })
  return toInvitation(row)
}

async function findRefusal(
  { sql }: Queryable,
  { tenantId, email }: Pick<NewInvitation, 'tenantId' | 'email'>,
): Promise<InvitationRefusal | null> {
  const [row] = await sql<{ refusal: InvitationRefusal | null }>`
    SELECT CASE
      WHEN EXISTS (
        SELECT FROM tenant_members m JOIN users u ON u.id = m.user_id
        WHERE m.tenant_id = ${tenantId}::uuid AND u.email_verified
          AND lower(u.email COLLATE "C") = lower(${email} COLLATE "C")) THEN 'member'
      WHEN ${maxOpenInvitations} = (
        SELECT count(*) FROM (
          SELECT FROM tenant_invitations i
          WHERE i.tenant_id = ${tenantId}::uuid AND i.accepted_at IS NULL AND i.expires_at > now()
            AND i.email <> lower(${email} COLLATE "C") LIMIT ${maxOpenInvitations}) other)
        THEN 'full'
    END AS refusal`
  return row?.refusal ?? null
}

/**
 * Sends an open invitation again, with the same link, for another 14 days. Like a new one it is mailed
 * if the address may have a mail today. The sender becomes its inviter: the earlier one may have lost the
 * right to invite since it expired, and then it could not be accepted.
 * @param role as the page showed it; the caller has checked the permission to give it
 * @returns `sent-today` if it was created or mailed today (UTC); null if it does not exist, is accepted,
 *   belongs to another tenant or gives another role
 * @throws Problem `limit-reached` beyond the seats that the tenant has bought
 */
export async function resendInvitation(
  connection: Queryable,
  queue: PgBoss,
  { userId, tenantId }: Pick<Member, 'userId' | 'tenantId'>,
  { id, role }: Pick<Invitation, 'id' | 'role'>,
  clientInfo: ClientInfo,
): Promise<'sent' | 'sent-today' | InvitationRefusal | null> {
  // Of two at once the second sees that it was sent.
  await lockUntilCommit(connection, 'invitations', tenantId)
  const [open] = await connection.sql<{ email: string; isDue: boolean }>`
    SELECT email, ${isDue} FROM tenant_invitations
    WHERE tenant_id = ${tenantId}::uuid AND id = ${id}::uuid AND role = ${role}
      AND accepted_at IS NULL`
  if (open === undefined) return null
  if (!open.isDue) return 'sent-today'
  const refusal = await findRefusal(connection, { tenantId, email: open.email })
  if (refusal !== null) return refusal
  await requireSeat(connection, open.email)
  await connection.sql`
    UPDATE invitations
    SET invited_by = ${userId}, created_at = now(),
        expires_at = now() + make_interval(days => ${lifetimeDays}),
        declined_at = NULL, mailed_at = NULL
    WHERE tenant_id = ${tenantId}::uuid AND id = ${id}::uuid`
  const sent = { action: 'invitation-create', outcome: 'done', reason: 'sent-again' } as const
  await recordAudit(connection, { ...sent, userId, tenantId, target: id }, clientInfo)
  await addJob(queue, connection, 'invitation-mail', { tenantId, invitationId: id })
  return 'sent'
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
  const withdrawn = await connection.sql`
    DELETE FROM tenant_invitations
    WHERE tenant_id = ${admin.tenantId} AND id = ${id} AND accepted_at IS NULL RETURNING id`
  if (withdrawn.length !== 1) return false
  const entry = { action: 'invitation-delete', outcome: 'done', reason: 'withdrawn' } as const
  const { userId, tenantId } = admin
  await recordAudit(connection, { ...entry, userId, tenantId, target: id }, clientInfo)
  return true
}

/**
 * Deletes the open invitations that a member has sent, because they lose the right to invite.
 * @param admin the user who takes the right away
 */
export async function endInvitationsOf(
  connection: Queryable,
  admin: Pick<Member, 'userId' | 'tenantId'>,
  inviter: number,
  clientInfo: ClientInfo,
): Promise<void> {
  const rows = await connection.sql<{ id: string }>`
    DELETE FROM tenant_invitations
    WHERE tenant_id = ${admin.tenantId} AND invited_by = ${inviter}
      AND accepted_at IS NULL AND expires_at > now() RETURNING id`
  const ids = rows.map(({ id }) => id)
  await recordEndedInvitations(connection, admin, ids, clientInfo)
}

/** Writes one audit entry per invitation that has ended with the right of its inviter. */
export async function recordEndedInvitations(
  connection: Queryable,
  { userId, tenantId }: Pick<Member, 'userId' | 'tenantId'>,
  ids: readonly string[],
  clientInfo: ClientInfo,
): Promise<void> {
  const entry = { action: 'invitation-delete', outcome: 'done', reason: 'inviter-gone' } as const
  await Promise.all(
    ids.map((target) =>
      recordAudit(connection, { ...entry, userId, tenantId, target }, clientInfo),
    ),
  )
}

export const invitationList = { name: 'invitations', forms: newestFirstForms }

/** The tenant's open invitations, newest first, including expired ones. */
export async function listInvitations(tx: Tx, scope: TenantScope, page: Page) {
  const rows = await tx.sql<InvitationRow & { isDue: boolean; position: string }>`
    SELECT id, tenant_id, email, role, department, invited_by, created_at, expires_at, accepted_at,
           link_hash, ${isDue}, ${createdPosition}
    FROM tenant_invitations
    WHERE tenant_id = ${scope.tenantId}::uuid AND accepted_at IS NULL AND ${newestFirst(page)}`
  return pageOf(
    rows,
    page,
    invitationList.name,
    (row) => [row.position, row.id],
    (row) => ({ ...toInvitation(row), isDue: row.isDue }),
  )
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
    linkHash: row.link_hash,
  }
}
