import { type InvitationRow, toInvitation } from '#src/auth/members/invitations.ts'
import type { TenantScope, Tx } from '#src/db/database.ts'
import { newestFirst, newestFirstForms } from '#src/db/keyset.ts'
import { type Page, pageOf } from '#src/http/pagination.ts'

export const invitationList = { name: 'invitations', forms: newestFirstForms }

/** The tenant's invitations that nobody has accepted, newest first; expired ones too. */
export async function listInvitations(tx: Tx, scope: TenantScope, page: Page) {
  const rows = await tx.$queryRaw<(InvitationRow & { position: string })[]>`
    SELECT id, tenant_id, email, role, department, invited_by, created_at, expires_at, accepted_at,
           (extract(epoch FROM created_at) * 1000000)::bigint::text AS position
    FROM tenant_invitations
    WHERE tenant_id = ${scope.tenantId}::uuid AND accepted_at IS NULL AND ${newestFirst(page)}`
  return pageOf(rows, page, invitationList.name, (row) => [row.position, row.id], toInvitation)
}
