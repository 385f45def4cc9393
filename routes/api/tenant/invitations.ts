import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  Invitation,
  invitationList,
  listInvitations,
  withdrawInvitation,
} from '#src/auth/members/invitations.ts'
import { readPage } from '#src/http/lists/pagination.ts'
import { Problem } from '#src/http/problems.ts'
import { NoContent, PageOf, PageQuery, UuidParams } from '#src/http/schemas.ts'

const tags = ['members']

/** Open invitations of a tenant. `POST /users` creates them. */
const invitations: FastifyPluginAsyncTypebox = async function invitations(app) {
  app.get(
    '/invitations',
    {
      config: { access: { resource: 'user', action: 'read' } },
      schema: {
        operationId: 'listInvitations',
        tags,
        summary: 'List the open invitations to your tenant, newest first',
        description: 'Includes expired invitations, which can no longer be accepted.',
        querystring: PageQuery,
        response: { 200: PageOf(Invitation) },
      },
    },
    async (request) => {
      const page = readPage(request.query, invitationList.name, invitationList.forms)
      return app.db.read(request.tenantPrincipalEntry, (tx, caller) =>
        listInvitations(tx, caller, page),
      )
    },
  )

  app.delete(
    '/invitations/:id',
    {
      config: { access: { resource: 'user', action: 'delete' } },
      schema: {
        operationId: 'withdrawInvitation',
        tags,
        summary: 'Withdraw an open invitation',
        params: UuidParams,
        response: { 204: NoContent('The invitation is withdrawn') },
      },
    },
    async (request, reply) => {
      const { tenantEntry, params, clientInfo } = request
      const withdrawn = await app.db.write(tenantEntry, (tx, admin) =>
        withdrawInvitation(tx, admin, params.id, clientInfo),
      )
      if (!withdrawn) throw new Problem('not-found')
      return reply.code(204).send(null)
    },
  )
}

export default invitations
