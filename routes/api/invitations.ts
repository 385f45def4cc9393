import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import {
  Invitation,
  invitationList,
  listInvitations,
  withdrawInvitation,
} from '#src/auth/members/invitations.ts'
import { readPage } from '#src/http/pagination.ts'
import { Problem } from '#src/http/problems.ts'
import { NoContent, PageOf, PageQuery, problems, UuidParams } from '#src/http/schemas.ts'

const tags = ['users']

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
        response: { 200: PageOf(Invitation), ...problems(400, 401, 403, 429, 503) },
      },
    },
    listOpenInvitations,
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
        response: {
          204: NoContent('The invitation is withdrawn'),
          ...problems(400, 401, 403, 404, 429, 503),
        },
      },
    },
    removeInvitation,
  )
}

async function listOpenInvitations(
  this: FastifyInstance,
  request: FastifyRequest<{ Querystring: Static<typeof PageQuery> }>,
) {
  const page = readPage(request.query, invitationList.name, invitationList.forms)
  return this.db.read(request.tenantPrincipalEntry, (tx, caller) =>
    listInvitations(tx, caller, page),
  )
}

async function removeInvitation(
  this: FastifyInstance,
  request: FastifyRequest<{ Params: Static<typeof UuidParams> }>,
  reply: FastifyReply,
) {
  const { tenantEntry, params, clientInfo } = request
  const withdrawn = await this.db.transaction(tenantEntry, (connection, admin) =>
    withdrawInvitation(connection, admin, params.id, clientInfo),
  )
  if (!withdrawn) throw new Problem('not-found')
  return reply.code(204).send(null)
}

export default invitations
