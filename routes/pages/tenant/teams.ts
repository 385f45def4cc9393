import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Member } from '#src/access/caller.ts'
import { listMembers } from '#src/auth/members/members.ts'
import type { Tx } from '#src/db/database.ts'
import { createFolder, deleteFolder, listFolders } from '#src/domain/folders.ts'
import {
  addTeamMember,
  createTeam,
  deleteTeam,
  listMembersOfTeams,
  listTeams,
  removeTeamMember,
} from '#src/domain/teams.ts'
import { found, readId } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { IdParams } from '#src/http/schemas.ts'
import { doneQuery } from '#src/pages/kit/layout.ts'
import {
  folderForm,
  memberForm,
  type TeamNotice,
  type TeamsView,
  teamForm,
  teamsPage,
} from '#src/pages/tenant/teams.ts'

const shown = { limit: 100, after: null }
const shownMemberships = 1_000

const Query = Type.Object(doneQuery, { additionalProperties: false })

/** The page of teams and folders and its forms, under the rules of the API's routes. */
const teams: FastifyPluginAsyncTypebox = async function teams(app) {
  const hide = true
  const schema = { hide, params: IdParams }
  const team = (action: 'read' | 'create' | 'update' | 'delete') =>
    ({ access: { resource: 'team', action } }) as const
  const folder = (action: 'create' | 'delete') =>
    ({ access: { resource: 'folder', action } }) as const
  app.get(
    '/app/teams',
    { config: team('read'), schema: { hide, querystring: Query } },
    async (request, reply) => {
      const read = await app.db.read(request.tenantEntry, readTeams)
      const { done } = request.query
      return reply.sendPage(teamsPage({ viewer: request.viewer, ...read, done }))
    },
  )
  app.post(
    '/app/teams',
    { config: team('create'), schema: { hide, body: teamForm.schema } },
    async (request, reply) => {
      const now = app.clock.now()
      const location = await app.db.write(request.tenantEntry, (tx, caller) =>
        request.submitOnce(tx, caller, async () => {
          await createTeam(tx, caller, request.body.name, now)
          return { path: pathWith('team-created') }
        }),
      )
      return reply.redirect(location, 303)
    },
  )
  app.post('/app/teams/:id/delete', { config: team('delete'), schema }, async (request, reply) => {
    const id = readId(request.params.id)
    const deleted = await app.db.write(request.tenantEntry, (tx, caller) =>
      deleteTeam(tx, caller, id),
    )
    if (!deleted) throw new Problem('not-found')
    return reply.redirect(pathWith('team-deleted'), 303)
  })
  app.post(
    '/app/teams/:id/members',
    { config: team('update'), schema: { ...schema, body: memberForm.schema } },
    async (request, reply) => {
      const teamId = readId(request.params.id)
      const userId = readId(request.body.userId)
      const now = app.clock.now()
      await app.db.write(request.tenantEntry, (tx, { tenantId }) =>
        addTeamMember(tx, { tenantId, teamId }, userId, now),
      )
      return reply.redirect(pathWith('member-added'), 303)
    },
  )
  app.post(
    '/app/teams/:id/members/remove',
    { config: team('update'), schema: { ...schema, body: memberForm.schema } },
    async (request, reply) => {
      const teamId = readId(request.params.id)
      const userId = readId(request.body.userId)
      const removed = await app.db.write(request.tenantEntry, (tx, { tenantId }) =>
        removeTeamMember(tx, { tenantId, teamId }, userId),
      )
      if (!removed) throw new Problem('not-found')
      return reply.redirect(pathWith('member-removed'), 303)
    },
  )
  app.post(
    '/app/teams/:id/folders',
    { config: folder('create'), schema: { ...schema, body: folderForm.schema } },
    async (request, reply) => {
      const teamId = readId(request.params.id)
      const { name, parentId } = request.body
      const place = parentId === '' ? { teamId } : { parentId: readId(parentId) }
      const now = app.clock.now()
      const location = await app.db.write(request.tenantEntry, (tx, caller) =>
        request.submitOnce(tx, caller, async () => {
          found(await createFolder(tx, caller, { name, ...place }, now))
          return { path: pathWith('folder-created') }
        }),
      )
      return reply.redirect(location, 303)
    },
  )
  app.post(
    '/app/folders/:id/delete',
    { config: folder('delete'), schema },
    async (request, reply) => {
      const id = readId(request.params.id)
      const deleted = await app.db.write(request.tenantEntry, (tx, caller) =>
        deleteFolder(tx, caller, id),
      )
      if (!deleted) throw new Problem('not-found')
      return reply.redirect(pathWith('folder-deleted'), 303)
    },
  )
}

async function readTeams(
  tx: Tx,
  caller: Member,
): Promise<Pick<TeamsView, 'teams' | 'people' | 'isCut'>> {
  const [found, folders, members] = await Promise.all([
    listTeams(tx, caller, shown),
    listFolders(tx, caller, shown),
    listMembers(tx, caller, shown),
  ])
  const ids = found.data.map(({ id }) => id)
  const inTeams = await listMembersOfTeams(tx, caller, ids, shownMemberships)
  const people = members.data.map(({ id, name, email }) => ({
    id,
    name: name ?? email ?? `user ${id}`,
  }))
  const nameOf = (id: number) => people.find((one) => one.id === id)?.name ?? `user ${id}`
  const teams = found.data.map(({ id, name }) => ({
    id,
    name,
    members: inTeams
      .filter(({ teamId }) => teamId === id)
      .map(({ userId }) => ({ id: userId, name: nameOf(userId) })),
    folders: folders.data.filter(({ teamId }) => teamId === id),
  }))
  const isCut =
    inTeams.length === shownMemberships ||
    [found, folders, members].some(({ nextCursor }) => nextCursor !== null)
  return { teams, people, isCut }
}

/** Post/Redirect/Get, so that a reload does not repeat the action. */
function pathWith(notice: TeamNotice): string {
  return `/app/teams?done=${notice}`
}

export default teams
