import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { listMemberships, tenantList } from '#src/auth/members/tenants.ts'
import { switchTenant } from '#src/auth/sessions/switch-tenant.ts'
import { readPage } from '#src/http/pagination.ts'
import { isForm } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { PageOf, PageQuery, problems, Uuid } from '#src/http/schemas.ts'

const Membership = Type.Object({
  id: Uuid,
  name: Type.String(),
  role: Type.String(),
  active: Type.Boolean({ description: 'The one this session is in' }),
})

/** The tenants one is a member of, and going from one to another. */
const tenants: FastifyPluginAsyncTypebox = async function tenants(app) {
  app.get(
    '/tenants',
    {
      config: { access: 'session' },
      schema: {
        tags: ['account'],
        summary: 'The tenants you are a member of, by name',
        querystring: PageQuery,
        response: { 200: PageOf(Membership), ...problems(400, 401, 403, 429, 503) },
      },
    },
    async (request) => {
      const page = readPage(request.query, tenantList.name, tenantList.forms)
      const { userId, tenantId } = request.sessionCaller
      return app.db.read({ userId }, (tx) => listMemberships(tx, { userId }, tenantId, page))
    },
  )

  app.post(
    '/session/tenant',
    {
      config: { access: 'session' },
      schema: {
        tags: ['account'],
        summary: 'Make another of your tenants the active one: 204, or 303 for a form',
        description: 'The session goes on under a new id; the cookie of before is dead.',
        body: Type.Object({ tenantId: Uuid }, { additionalProperties: false }),
        response: {
          204: Type.Null(),
          303: Type.Null(),
          ...problems(400, 401, 403, 404, 429, 503),
        },
      },
    },
    async (request, reply) => {
      const { sessionCaller, session } = request
      const { tenantId } = request.body
      const result = await switchTenant(
        app.systemDb,
        sessionCaller,
        session.sessionId,
        tenantId,
        request.clientInfo,
      )
      if (result.outcome === 'no-member') throw new Problem('not-found')
      if (result.outcome === 'session-ended') throw new Problem('unauthenticated')
      await request.adoptSession(result.newCookieId)
      reply.header('cache-control', 'no-store')
      const asForm = isForm(request.headers['content-type'])
      return asForm ? reply.redirect('/', 303) : reply.code(204).send(null)
    },
  )
}

export default tenants
