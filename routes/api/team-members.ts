import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { readPage } from '#src/http/pagination.ts'
import { found, readId } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { Id, IdParams, PageOf, PageQuery, problems, Time } from '#src/http/schemas.ts'
import {
  addTeamMember,
  findTeamMember,
  listTeamMembers,
  removeTeamMember,
  teamMemberList,
} from '#src/resources/teams.ts'

const TeamMember = Type.Object({ userId: Id, createdAt: Time })

const { id } = IdParams.properties
const MemberParams = Type.Object({ id, userId: id }, { additionalProperties: false })

const tags = ['teams']

/** Who is in which team, for the administrators of a tenant. */
const teamMembers: FastifyPluginAsyncTypebox = async function teamMembers(app) {
  app.get(
    '/teams/:id/members',
    {
      config: { access: { resource: 'team', action: 'read' } },
      schema: {
        tags,
        summary: 'The members of a team, by user id',
        params: IdParams,
        querystring: PageQuery,
        response: { 200: PageOf(TeamMember), ...problems(400, 401, 403, 404, 429, 503) },
      },
    },
    async (request) => {
      const { tenantId } = request.tenantScope
      const scope = { tenantId, teamId: readId(request.params.id) }
      const page = readPage(request.query, teamMemberList.name, teamMemberList.forms)
      return found(await app.db.read(request.tenantScope, (tx) => listTeamMembers(tx, scope, page)))
    },
  )

  app.get(
    '/teams/:id/members/:userId',
    {
      config: { access: { resource: 'team', action: 'read' } },
      schema: {
        tags,
        summary: 'Read whether somebody is a member of a team',
        params: MemberParams,
        response: { 200: TeamMember, ...problems(400, 401, 403, 404, 429, 503) },
      },
    },
    async (request) => {
      const { tenantScope, params } = request
      const scope = { tenantId: tenantScope.tenantId, teamId: readId(params.id) }
      const userId = readId(params.userId)
      return found(await app.db.read(tenantScope, (tx) => findTeamMember(tx, scope, userId)))
    },
  )

  app.put(
    '/teams/:id/members/:userId',
    {
      config: { access: { resource: 'team', action: 'update' } },
      schema: {
        tags,
        summary: 'Make a member of your tenant a member of a team',
        description: 'For one who is, nothing changes.',
        params: MemberParams,
        response: { 204: Type.Null(), ...problems(400, 401, 403, 404, 429, 503) },
      },
    },
    async (request, reply) => {
      const { tenantScope, params } = request
      const scope = { tenantId: tenantScope.tenantId, teamId: readId(params.id) }
      const userId = readId(params.userId)
      const now = app.clock.now()
      await app.db.write(tenantScope, (tx) => addTeamMember(tx, scope, userId, now))
      return reply.code(204).send(null)
    },
  )

  app.delete(
    '/teams/:id/members/:userId',
    {
      config: { access: { resource: 'team', action: 'update' } },
      schema: {
        tags,
        summary: 'Take somebody out of a team; its documents are out of their reach at once',
        params: MemberParams,
        response: { 204: Type.Null(), ...problems(400, 401, 403, 404, 429, 503) },
      },
    },
    async (request, reply) => {
      const { tenantScope, params } = request
      const scope = { tenantId: tenantScope.tenantId, teamId: readId(params.id) }
      const userId = readId(params.userId)
      const removed = await app.db.write(tenantScope, (tx) => removeTeamMember(tx, scope, userId))
      if (!removed) throw new Problem('not-found')
      return reply.code(204).send(null)
    },
  )
}

export default teamMembers
