import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { readPage } from '#src/http/pagination.ts'
import { found, readId } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { Id, IdParams, NoContent, PageOf, PageQuery, problems, Time } from '#src/http/schemas.ts'
import {
  addTeamMember,
  findTeamMember,
  listTeamMembers,
  removeTeamMember,
  teamMemberList,
} from '#src/resources/teams.ts'

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
        response: { 200: PageOf(TeamMember), ...problems(400, 401, 403, 404, 429, 503) },
      },
    },
    listMembers,
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
        response: { 200: TeamMember, ...problems(400, 401, 403, 404, 429, 503) },
      },
    },
    readMember,
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
          ...problems(400, 401, 403, 404, 'quota-exceeded', 429, 503),
        },
      },
    },
    putMember,
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
        response: {
          204: NoContent('The user is no member of the team any more'),
          ...problems(400, 401, 403, 404, 429, 503),
        },
      },
    },
    removeMember,
  )
}

async function listMembers(
  this: FastifyInstance,
  request: FastifyRequest<{
    Params: Static<typeof IdParams>
    Querystring: Static<typeof PageQuery>
  }>,
) {
  const teamId = readId(request.params.id)
  const page = readPage(request.query, teamMemberList.name, teamMemberList.forms)
  return found(
    await this.db.read(request.tenantPrincipalEntry, (tx, { tenantId }) =>
      listTeamMembers(tx, { tenantId, teamId }, page),
    ),
  )
}

async function readMember(
  this: FastifyInstance,
  request: FastifyRequest<{ Params: Static<typeof MemberParams> }>,
) {
  const { params } = request
  const teamId = readId(params.id)
  const userId = readId(params.userId)
  return found(
    await this.db.read(request.tenantPrincipalEntry, (tx, { tenantId }) =>
      findTeamMember(tx, { tenantId, teamId }, userId),
    ),
  )
}

async function putMember(
  this: FastifyInstance,
  request: FastifyRequest<{ Params: Static<typeof MemberParams> }>,
  reply: FastifyReply,
) {
  const { params } = request
  const teamId = readId(params.id)
  const userId = readId(params.userId)
  const now = this.clock.now()
  await this.db.write(request.tenantPrincipalEntry, (tx, { tenantId }) =>
    addTeamMember(tx, { tenantId, teamId }, userId, now),
  )
  return reply.code(204).send(null)
}

async function removeMember(
  this: FastifyInstance,
  request: FastifyRequest<{ Params: Static<typeof MemberParams> }>,
  reply: FastifyReply,
) {
  const { params } = request
  const teamId = readId(params.id)
  const userId = readId(params.userId)
  const removed = await this.db.write(request.tenantPrincipalEntry, (tx, { tenantId }) =>
    removeTeamMember(tx, { tenantId, teamId }, userId),
  )
  if (!removed) throw new Problem('not-found')
  return reply.code(204).send(null)
}

export default teamMembers
