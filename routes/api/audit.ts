import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { AuditPage, listTenantAudit, TenantAuditQuery, tenantAuditList } from '#src/audit/list.ts'
import { readList } from '#src/http/pagination.ts'
import { problems } from '#src/http/schemas.ts'

/** The audit log of a tenant, for its administrators. */
const tenantAudit: FastifyPluginAsyncTypebox = async function tenantAudit(app) {
  app.get(
    '/audit',
    {
      config: { access: { resource: 'audit', action: 'read' } },
      schema: {
        operationId: 'listTenantAudit',
        tags: ['tenant'],
        summary: 'List the audit log of your tenant, newest first',
        querystring: TenantAuditQuery,
        response: { 200: AuditPage, ...problems(400, 401, 403, 429, 503) },
      },
    },
    listAudit,
  )
}

async function listAudit(
  this: FastifyInstance,
  request: FastifyRequest<{ Querystring: Static<typeof TenantAuditQuery> }>,
) {
  const { page, filter } = readList(request.query, tenantAuditList)
  return this.db.read(request.tenantPrincipalEntry, (tx, caller) =>
    listTenantAudit(tx, caller, page, filter),
  )
}

export default tenantAudit
