import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { AuditPage, AuditQuery, listOwnAudit, ownAuditList } from '#src/audit/list.ts'
import { readList } from '#src/http/pagination.ts'
import { problems } from '#src/http/schemas.ts'

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
        response: { 200: AuditPage, ...problems(400, 401, 403, 429, 503) },
      },
    },
    showOwnAudit,
  )
}

async function showOwnAudit(
  this: FastifyInstance,
  request: FastifyRequest<{ Querystring: Static<typeof AuditQuery> }>,
) {
  const { page, filter } = readList(request.query, ownAuditList)
  return this.db.read(request.sessionEntry, (tx, caller) => listOwnAudit(tx, caller, page, filter))
}

export default ownAudit
