import { type ClientInfo, recordAudit } from '#src/audit/audit.ts'
import { recordEndedInvitations } from '#src/auth/members/invitations.ts'
import type { MappedRole } from '#src/auth/oidc/mapped-role.ts'
import { Prisma } from '#src/db/generated/client.ts'
import type { Queryable } from '#src/db/system-database.ts'
import { addHook } from '#src/queue/app/hooks.ts'

type RoleRow = {
  outcome: 'joined' | 'changed' | 'removed' | 'last-admin' | 'no-tenant'
  invitations: string[]
}

/**
 * Gives the user of a sign-in the role of `OIDC_<NAME>_ROLE_MAP`, or takes it away, and records the change.
 * Invitations by somebody who is no admin any more end.
 * @returns whether they have become a member
 */
export async function applyRole(
  connection: Queryable,
  { tenantId, role, userId, provider }: MappedRole & { userId: number; provider: string },
  clientInfo: ClientInfo,
): Promise<boolean> {
  const [row] = await connection.sql<RoleRow>`
    SELECT outcome, invitations FROM apply_role_map(${tenantId}, ${role})`
  if (row === undefined) return false
  const { outcome, invitations } = row
  const entry = { action: 'role-map', provider, userId, target: String(userId) } as const
  if (outcome === 'no-tenant') {
    const refused = { ...entry, outcome: 'refused', reason: 'tenant-missing' } as const
    await recordAudit(connection, refused, clientInfo)
  } else if (outcome === 'last-admin') {
    const refused = { ...entry, tenantId, outcome: 'refused', reason: outcome } as const
    await recordAudit(connection, refused, clientInfo)
  } else {
    const reason = outcome === 'removed' ? outcome : `${outcome}-${role}`
    await recordAudit(connection, { ...entry, tenantId, outcome: 'done', reason }, clientInfo)
    await recordEndedInvitations(connection, { userId, tenantId }, invitations, clientInfo)
    if (outcome === 'joined') await addHook(connection, 'user.joined', tenantId, { userId })
    if (outcome === 'removed') await addHooksOfRemoval(connection, { userId, tenantId })
  }
  return outcome === 'joined'
}

/** Who is in no other tenant gets one of their own in the same transaction. */
async function addHooksOfRemoval(
  connection: Queryable,
  { userId, tenantId }: { userId: number; tenantId: string },
): Promise<void> {
  await addHook(connection, 'user.left', tenantId, { userId })
  const begun = Prisma.sql`
    SELECT tenant_id::text AS tenant FROM memberships WHERE user_id = ${userId} AND created_at = now()`
  await addHook(connection, 'tenant.created', begun, { userId })
}
