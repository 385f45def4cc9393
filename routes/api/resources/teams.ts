import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import {
  createTeam,
  deleteTeam,
  findTeam,
  listTeams,
  lockTeam,
  renameTeam,
  teamList,
  teamName,
} from '#src/domain/teams.ts'
import { readPage } from '#src/http/lists/pagination.ts'
import { found, readId } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import {
  Id,
  IdParams,
  NoContent,
  PageOf,
  PageQuery,
  problems,
  Time,
  Uuid,
} from '#src/http/schemas.ts'

const Team = Type.Object(
  {
    id: Id,
    tenantId: Uuid,
    name: Type.String(),
    createdAt: Time,
    updatedAt: Time,
  },
  { title: 'Team' },
)

const TeamName = Type.Object({ name: teamName }, { title: 'TeamName', additionalProperties: false })

const tags = ['teams']

/** The teams of a tenant, for its administrators. */
const teams: FastifyPluginAsyncTypebox = async function teams(app) {
  app.get(
    '/teams',
    {
      config: { access: { resource: 'team', action: 'read' } },
      schema: {
        operationId: 'listTeams',
        tags,
        summary: 'List the teams of your tenant, newest first',
        querystring: PageQuery,
        response: { 200: PageOf(Team) },
      },
    },
    async (request) => {
      const page = readPage(request.query, teamList.name, teamList.forms)
      return app.db.read(request.tenantPrincipalEntry, (tx, caller) => listTeams(tx, caller, page))
    },
  )

  app.post(
    '/teams',
    {
      config: {
        versioned: Team,
        idempotencyKey: true,
        access: { resource: 'team', action: 'create' },
      },
      schema: {
        operationId: 'createTeam',
        tags,
        summary: 'Create a team without members',
        body: TeamName,
        response: { 201: Team, ...problems('quota-exceeded') },
      },
    },
    async (request, reply) => {
      const { body } = request
      const now = app.clock.now()
      const team = await app.db.write(request.tenantPrincipalEntry, (tx, caller) =>
        createTeam(tx, caller, body.name, now),
      )
      return reply.code(201).header('location', `/teams/${team.id}`).send(team)
    },
  )

  app.get(
    '/teams/:id',
    {
      config: { versioned: Team, access: { resource: 'team', action: 'read' } },
      schema: {
        operationId: 'getTeam',
        tags,
        summary: 'Read a team of your tenant',
        params: IdParams,
        response: { 200: Team },
      },
    },
    async (request) => {
      const id = readId(request.params.id)
      return found(
        await app.db.read(request.tenantPrincipalEntry, (tx, caller) => findTeam(tx, caller, id)),
      )
    },
  )

  app.patch(
    '/teams/:id',
    {
      config: {
        idempotencyKey: true,
        versioned: Team,
        access: { resource: 'team', action: 'update' },
      },
      schema: {
        operationId: 'updateTeam',
        tags,
        summary: 'Rename a team of your tenant',
        params: IdParams,
        body: TeamName,
        response: { 200: Team, ...problems('quota-exceeded') },
      },
    },
    async (request, reply) => {
      const { body } = request
      const id = readId(request.params.id)
      const now = app.clock.now()
      return found(
        await app.db.write(request.tenantPrincipalEntry, async (tx, caller) => {
          await reply.ifMatch(() => lockTeam(tx, caller, id))
          return renameTeam(tx, caller, id, body.name, now)
        }),
      )
    },
  )

  app.delete(
    '/teams/:id',
    {
      config: { versioned: Team, access: { resource: 'team', action: 'delete' } },
      schema: {
        operationId: 'deleteTeam',
        tags,
        summary: 'Delete a team of your tenant; 409 while it owns folders',
        params: IdParams,
        response: { 204: NoContent('The team is deleted'), ...problems('conflict') },
      },
    },
    async (request, reply) => {
      const id = readId(request.params.id)
      const deleted = await app.db.write(request.tenantPrincipalEntry, async (tx, caller) => {
        await reply.ifMatch(() => lockTeam(tx, caller, id))
        return deleteTeam(tx, caller, id)
      })
      if (!deleted) throw new Problem('not-found')
      return reply.code(204).send(null)
    },
  )
}

export default teams
