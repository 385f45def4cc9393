import type { Caller, OwnerScope } from '#src/access/caller.ts'
import { assignablePermissions } from '#src/access/roles.ts'
import type { ClientInfo } from '#src/audit/audit.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { Problem } from '#src/http/problems.ts'
import { type Tokens, tokenListForms } from './store.ts'

/** Tokens a person may have in all tenants together, those that have expired included. */
export const maxTokens = 50

type Owner = Pick<Caller, 'userId' | 'tenantId' | 'role'> & { readonly clientInfo: ClientInfo }

/** The API tokens of a person in all their tenants. A new one acts in the active tenant. */
export const apiTokens: Tokens<OwnerScope, Owner, readonly string[] | null> = {
  prefix: 'token',
  name: 'token',
  list: { name: 'tokens', forms: tokenListForms },
  table: Prisma.sql`api_tokens`,
  columns: Prisma.sql`
    CASE WHEN all_permissions THEN NULL ELSE permissions END AS permissions, NULL AS "createdBy",
    NULL::timestamptz AS "secretRotatedAt", tenant_id AS "tenantId"`,
  within: ({ userId }) => Prisma.sql`user_id = ${userId}`,
  max: maxTokens,
  lock: 'api-tokens',
  lockKey: ({ userId }) => [String(userId)],
  full: `You have ${maxTokens} API tokens`,
  more: Prisma.sql`user_id, tenant_id, all_permissions`,
  valuesOf: ({ userId, tenantId }, { permissions }) =>
    Prisma.sql`${userId}, ${tenantId}::uuid, ${permissions === null}`,
  async admit(_tx, { tenantId, role }, { permissions }) {
    if (tenantId === null) throw new Problem('forbidden', { detail: 'You have no active tenant.' })
    const assignable = assignablePermissions(role)
    if (permissions?.some((permission) => !assignable.includes(permission))) {
      throw new Problem('forbidden', { detail: 'A token cannot have permissions that you lack.' })
    }
  },
  reasonOf: ({ permissions }) => (permissions === null ? 'unlimited' : 'limited'),
}
