import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { AuditPage, listOwnAudit, ownAuditList } from '#src/audit/list.ts'
import { readPage } from '#src/http/pagination.ts'
import { PageQuery, problems } from '#src/http/schemas.ts'

/** What happened to one's own account, in whichever tenant. */
const ownAudit: FastifyPluginAsyncTypebox = async function ownAudit(app) {
  app.get(
    '/auth/audit',
    {
      exposeHeadRoute: false,
      config: { access: 'session' },
      schema: {
        tags: ['account'],
        summary: 'What happened to your account, newest first',
        querystring: PageQuery,
        response: { 200: AuditPage, ...problems(400, 401, 403, 429, 503) },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      const page = readPage(request.query, ownAuditList.name, ownAuditList.forms)
      // The person alone is the scope: row-level security then shows what is theirs, not the tenant's.
      const owner = { userId: request.sessionCaller.userId }
      return app.db.read(owner, (tx) => listOwnAudit(tx, owner, page))
    },
  )
}

export default ownAudit
