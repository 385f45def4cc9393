import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { AuditPage, listTenantAudit, TenantAuditQuery, tenantAuditList } from '#src/audit/list.ts'
import { readList } from '#src/http/lists/pagination.ts'

/** The audit log of a tenant, for its administrators. */
const tenantAudit: FastifyPluginAsyncTypebox = async function tenantAudit(app) {
  app.get(
    '/audit',
    {
      config: { access: { resource: 'audit', action: 'read' } },
      schema: {
        operationId: 'listTenantAudit',
        tags: ['tenants'],
        summary: 'List the audit log of your tenant, newest first',
        querystring: TenantAuditQuery,
        response: { 200: AuditPage },
      },
    },
    async (request) => {
      const { page, filter } = readList(request.query, tenantAuditList)
      return app.db.read(request.tenantPrincipalEntry, (tx, caller) =>
        listTenantAudit(tx, caller, page, filter),
      )
    },
  )
}

export default tenantAudit
