import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Member } from '#src/access/caller.ts'
import { listMembers } from '#src/auth/members/members.ts'
import type { Tx } from '#src/db/database.ts'
import { readId } from '#src/http/params.ts'
import { IdParams } from '#src/http/schemas.ts'
import { doneQuery } from '#src/pages/kit/layout.ts'
import {
  folderForm,
  memberForm,
  newTeamPage,
  type TeamNotice,
  type TeamsView,
  teamForm,
  teamsPage,
} from '#src/pages/tenant/teams.ts'
import { folderActions } from '#src/teams/folder-actions.ts'
import { listFolders } from '#src/teams/folders.ts'
import { teamActions, teamMemberActions } from '#src/teams/team-actions.ts'
import { listMembersOfTeams, listTeams } from '#src/teams/teams.ts'

const path = '/app/teams'
const shown = { limit: 100, after: null }
const shownMemberships = 1_000

const Query = Type.Object(doneQuery, { additionalProperties: false })

/** The page of teams and folders, that of a new team, and their forms, under the rules of the API's routes. */
const teams: FastifyPluginAsyncTypebox = async function teams(app) {
  app.get(
    path,
    { config: { access: teamActions.list.rule }, schema: { hide: true, querystring: Query } },
    async (request, reply) => {
      const read = await app.db.read(request.tenantEntry, readTeams)
      const { done } = request.query
      return reply.sendPage(teamsPage({ viewer: request.viewer, ...read, done }))
    },
  )
  app.formPage(`${path}/new`, teamActions.create, {
    ...done('team-created'),
    fields: teamForm.schema,
    async page(request) {
      await request.enter()
      return newTeamPage(request.viewer)
    },
  })
  app.form(`${path}/:id/delete`, teamActions.remove, done('team-deleted'))
  const members = `${path}/:id/members` as const
  const member = { fields: memberForm.schema }
  app.form(members, teamMemberActions.add, { ...done('member-added'), ...member })
  app.form(`${members}/remove`, teamMemberActions.remove, { ...done('member-removed'), ...member })
  app.form(`${path}/:id/folders`, folderActions.create, {
    ...done('folder-created'),
    params: IdParams,
    fields: folderForm.schema,
    read: ({ fields: { name, parentId }, params }) =>
      parentId === '' ? { name, teamId: readId(params.id) } : { name, parentId: readId(parentId) },
  })
  app.form('/app/folders/:id/delete', folderActions.remove, done('folder-deleted'))
}

/** The forms are for members, and all lead back to the page. */
function done(notice: TeamNotice) {
  return { entryOf: ({ tenantEntry }: FastifyRequest) => tenantEntry, to: path, notice }
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

export default teams
