import Type, { type Static } from 'typebox'
import type { SessionCaller } from '#src/access/caller.ts'
import { type ClientInfo, recordAudit } from '#src/audit/audit.ts'
import type { Tx } from '#src/db/database.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { OwnUuid } from '#src/http/fields.ts'
import { means, Nullable, Time } from '#src/http/schemas.ts'
import { addHook } from '#src/queue/app/hooks.ts'
import { readLink } from './invitation-link.ts'

/** An open invitation as the invited person sees it. */
export const OwnInvitation = Type.Object(
  {
    id: OwnUuid,
    tenant: Type.Object(
      { id: OwnUuid, name: Type.String({ description: 'For people' }) },
      { description: 'The tenant that you would be a member of' },
    ),
    role: Type.String({ description: 'That you would have there' }),
    department: Nullable(Type.String({ description: 'That you would have there; null for none' })),
    inviter: Nullable(
      Type.String({ description: 'E-mail of the admin who invited you; null if there is none' }),
    ),
    createdAt: means(Time, 'When it was last sent, in UTC'),
    expiresAt: means(Time, 'When you can no longer accept it'),
  },
  { title: 'OwnInvitation' },
)

export type OwnInvitation = Static<typeof OwnInvitation>

/** A row of the SQL function own_invitations; times are texts where it is read as JSON. */
export type OwnInvitationRow = {
  id: string
  tenant_id: string
  tenant_name: string
  role: string
  department: string | null
  inviter: string | null
  created_at: Date | string
  expires_at: Date | string
}

/**
 * The open invitations for addresses that the caller has verified, newest first, at most 100; none
 * for an API token and for tenants that the caller is a member of.
 */
export async function listOwnInvitations(tx: Tx): Promise<OwnInvitation[]> {
  const rows = await tx.sql<OwnInvitationRow>`SELECT * FROM own_invitations(NULL, NULL)`
  return rows.map(toOwnInvitation)
}

/** An invitation, and the secret of its link if it was opened by that. */
export type OpenedInvitation = { id: string; link?: string | undefined }

/** @returns null if it is missing, for another address, or not open any more */
export async function findOwnInvitation(
  tx: Tx,
  { id, link }: OpenedInvitation,
): Promise<OwnInvitation | null> {
  const [row] = await tx.sql<OwnInvitationRow>`
    SELECT * FROM own_invitations(${id}::uuid, ${readLink(link)}::bytea)`
  return row === undefined ? null : toOwnInvitation(row)
}

export function toOwnInvitation(row: OwnInvitationRow): OwnInvitation {
  return {
    id: row.id,
    tenant: { id: row.tenant_id, name: row.tenant_name },
    role: row.role,
    department: row.department,
    inviter: row.inviter,
    createdAt: new Date(row.created_at).toISOString(),
    expiresAt: new Date(row.expires_at).toISOString(),
  }
}

/**
 * Makes the caller a member of the tenant that invites them. The audit entry is theirs and the
 * tenant's, with their own client; its reason says whether the secret of the link was presented.
 * @returns false if the invitation is missing, for an address that the caller has neither verified nor
 *   signed in with and opened the link of, or not open any more, for instance because its inviter is no
 *   longer an admin
 */
export async function acceptInvitation(
  connection: Queryable,
  { userId }: Pick<SessionCaller, 'userId'>,
  { id, link }: OpenedInvitation,
  clientInfo: ClientInfo,
): Promise<boolean> {
  const [row] = await connection.sql<{ tenant_id: string | null }>`
    SELECT accept_invitation(${id}::uuid, ${readLink(link)}::bytea) AS tenant_id`
  const tenantId = row?.tenant_id ?? null
  if (tenantId === null) return false
  await addHook(connection, 'user.joined', tenantId, { userId })
  const entry = { action: 'invitation-accept', outcome: 'done', reason: reasonOf(link) } as const
  await recordAudit(connection, { ...entry, userId, tenantId, target: id }, clientInfo)
  return true
}

/**
 * Hides the invitation from the caller. The tenant does not see it: the invitation stays in its list
 * until it expires, and the audit entry is the caller's alone.
 * @returns false as `acceptInvitation`
 */
export async function declineInvitation(
  connection: Queryable,
  { userId }: Pick<SessionCaller, 'userId'>,
  { id, link }: OpenedInvitation,
  clientInfo: ClientInfo,
): Promise<boolean> {
  const [row] = await connection.sql<{ declined: boolean }>`
    SELECT decline_invitation(${id}::uuid, ${readLink(link)}::bytea) AS declined`
  if (row?.declined !== true) return false
  const entry = { action: 'invitation-decline', outcome: 'done', reason: reasonOf(link) } as const
  await recordAudit(connection, { ...entry, userId, target: id }, clientInfo)
  return true
}

function reasonOf(link: string | undefined) {
  return link === undefined ? 'own-request' : 'invitation-link'
}
