import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import {
  addTeamMember,
  findTeamMember,
  listTeamMembers,
  removeTeamMember,
  teamMemberList,
} from '#src/domain/teams.ts'
import { readPage } from '#src/http/lists/pagination.ts'
import { found, readId } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { Id, IdParams, NoContent, PageOf, PageQuery, problems, Time } from '#src/http/schemas.ts'

const TeamMember = Type.Object({ userId: Id, createdAt: Time }, { title: 'TeamMember' })

const { id } = IdParams.properties
const MemberParams = Type.Object({ id, userId: id }, { additionalProperties: false })

const tags = ['teams']

/** The members of teams, for the administrators of a tenant. */
const teamMembers: FastifyPluginAsyncTypebox = async function teamMembers(app) {
  app.get(
    '/teams/:id/members',
    {
      config: { access: { resource: 'team', action: 'read' } },
      schema: {
        operationId: 'listTeamMembers',
        tags,
        summary: 'List the members of a team, by user id',
        params: IdParams,
        querystring: PageQuery,
        response: { 200: PageOf(TeamMember) },
      },
    },
    async (request) => {
      const teamId = readId(request.params.id)
      const page = readPage(request.query, teamMemberList.name, teamMemberList.forms)
      return found(
        await app.db.read(request.tenantPrincipalEntry, (tx, { tenantId }) =>
          listTeamMembers(tx, { tenantId, teamId }, page),
        ),
      )
    },
  )

  app.get(
    '/teams/:id/members/:userId',
    {
      config: { access: { resource: 'team', action: 'read' } },
      schema: {
        operationId: 'getTeamMember',
        tags,
        summary: 'Read a membership of a team',
        params: MemberParams,
        response: { 200: TeamMember },
      },
    },
    async (request) => {
      const { params } = request
      const teamId = readId(params.id)
      const userId = readId(params.userId)
      return found(
        await app.db.read(request.tenantPrincipalEntry, (tx, { tenantId }) =>
          findTeamMember(tx, { tenantId, teamId }, userId),
        ),
      )
    },
  )

  app.put(
    '/teams/:id/members/:userId',
    {
      config: { access: { resource: 'team', action: 'update' } },
      schema: {
        operationId: 'addTeamMember',
        tags,
        summary: 'Add a member of your tenant to a team',
        description: 'Changes nothing for a member of the team.',
        params: MemberParams,
        response: {
          204: NoContent('The user is a member of the team'),
          ...problems('quota-exceeded'),
        },
      },
    },
    async (request, reply) => {
      const { params } = request
      const teamId = readId(params.id)
      const userId = readId(params.userId)
      const now = app.clock.now()
      await app.db.write(request.tenantPrincipalEntry, (tx, { tenantId }) =>
        addTeamMember(tx, { tenantId, teamId }, userId, now),
      )
      return reply.code(204).send(null)
    },
  )

  app.delete(
    '/teams/:id/members/:userId',
    {
      config: { access: { resource: 'team', action: 'update' } },
      schema: {
        operationId: 'removeTeamMember',
        tags,
        summary: 'Remove a member from a team; access to its documents ends at once',
        params: MemberParams,
        response: { 204: NoContent('The user is no member of the team any more') },
      },
    },
    async (request, reply) => {
      const { params } = request
      const teamId = readId(params.id)
      const userId = readId(params.userId)
      const removed = await app.db.write(request.tenantPrincipalEntry, (tx, { tenantId }) =>
        removeTeamMember(tx, { tenantId, teamId }, userId),
      )
      if (!removed) throw new Problem('not-found')
      return reply.code(204).send(null)
    },
  )
}

export default teamMembers
