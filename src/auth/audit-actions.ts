import type { OwnerScope, TenantScope } from '#src/access/caller.ts'
import { type Acting, defineAction } from '#src/actions/action.ts'
import {
  AuditPage,
  AuditQuery,
  listOwnAudit,
  listTenantAudit,
  ownAuditList,
  TenantAuditQuery,
  tenantAuditList,
} from '#src/audit/list.ts'
import { readList } from '#src/http/lists/pagination.ts'

/** The operations on the audit log. */
export const auditActions = {
  own: defineAction({
    name: 'listAccountAudit',
    rule: { resource: 'activity', action: 'read' },
    tag: 'account',
    summary: 'The audit log of your account, newest first',
    query: AuditQuery,
    result: AuditPage,
    run({ tx, by }: Acting<OwnerScope>, { query }) {
      const { page, filter } = readList(query, ownAuditList)
      return listOwnAudit(tx, by, page, filter)
    },
  }),
  tenant: defineAction({
    name: 'listTenantAudit',
    rule: { resource: 'audit', action: 'read' },
    tag: 'tenants',
    summary: 'List the audit log of your tenant, newest first',
    query: TenantAuditQuery,
    result: AuditPage,
    run({ tx, by }: Acting<TenantScope>, { query }) {
      const { page, filter } = readList(query, tenantAuditList)
      return listTenantAudit(tx, by, page, filter)
    },
  }),
}
