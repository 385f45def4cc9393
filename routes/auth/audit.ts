import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { AuditPage, AuditQuery, listOwnAudit, ownAuditList } from '#src/audit/list.ts'
import { readList } from '#src/http/lists/pagination.ts'

/** The audit log of the caller's account, in all tenants. */
const ownAudit: FastifyPluginAsyncTypebox = async function ownAudit(app) {
  app.get(
    '/auth/audit',
    {
      exposeHeadRoute: false,
      config: { access: { resource: 'activity', action: 'read' } },
      schema: {
        operationId: 'listAccountAudit',
        tags: ['account'],
        summary: 'The audit log of your account, newest first',
        querystring: AuditQuery,
        response: { 200: AuditPage },
      },
    },
    async (request) => {
      const { page, filter } = readList(request.query, ownAuditList)
      return app.db.read(request.sessionEntry, (tx, caller) =>
        listOwnAudit(tx, caller, page, filter),
      )
    },
  )
}

export default ownAudit
