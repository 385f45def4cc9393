import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { AuditPage, listTenantAudit, tenantAuditList } from '#src/audit/list.ts'
import { readPage } from '#src/http/pagination.ts'
import { PageQuery, problems } from '#src/http/schemas.ts'

/** What happened in the tenant, for those who manage its users. */
const tenantAudit: FastifyPluginAsyncTypebox = async function tenantAudit(app) {
  app.get(
    '/audit',
    {
      config: { access: { resource: 'audit', action: 'read' } },
      schema: {
        tags: ['tenant'],
        summary: 'What happened in your tenant, newest first',
        querystring: PageQuery,
        response: { 200: AuditPage, ...problems(400, 401, 403, 429, 503) },
      },
    },
    async (request) => {
      const page = readPage(request.query, tenantAuditList.name, tenantAuditList.forms)
      // The tenant alone is the scope: row-level security then hides the reader's own from elsewhere.
      const scope = { tenantId: request.tenantScope.tenantId }
      return app.db.read(scope, (tx) => listTenantAudit(tx, scope, page))
    },
  )
}

export default tenantAudit
