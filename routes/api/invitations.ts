import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import {
  Invitation,
  invitationList,
  listInvitations,
  withdrawInvitation,
} from '#src/auth/members/invitations.ts'
import { readPage } from '#src/http/pagination.ts'
import { Problem } from '#src/http/problems.ts'
import { PageOf, PageQuery, problems, UuidParams } from '#src/http/schemas.ts'

const tags = ['users']

/** Who is invited into a tenant and has not come yet; `POST /users` invites. */
const invitations: FastifyPluginAsyncTypebox = async function invitations(app) {
  app.get(
    '/invitations',
    {
      config: { access: { resource: 'user', action: 'read' } },
      schema: {
        tags,
        summary: 'Invitations into your tenant that nobody has accepted, newest first',
        description: 'Expired ones too: nobody can accept them any more.',
        querystring: PageQuery,
        response: { 200: PageOf(Invitation), ...problems(400, 401, 403, 429, 503) },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      const scope = request.tenantScope
      const page = readPage(request.query, invitationList.name, invitationList.forms)
      return app.db.read(scope, (tx) => listInvitations(tx, scope, page))
    },
  )

  app.delete(
    '/invitations/:id',
    {
      config: { access: { resource: 'user', action: 'delete' } },
      schema: {
        tags,
        summary: 'Withdraw an invitation that nobody has accepted',
        params: UuidParams,
        response: { 204: Type.Null(), ...problems(400, 401, 403, 404, 429, 503) },
      },
    },
    async (request, reply) => {
      const { tenantScope, params } = request
      if (!(await withdrawInvitation(app.systemDb, tenantScope, params.id, request.clientInfo))) {
        throw new Problem('not-found')
      }
      return reply.code(204).send(null)
    },
  )
}

export default invitations
