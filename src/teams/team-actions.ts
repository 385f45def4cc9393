import Type from 'typebox'
import type { TenantPrincipal } from '#src/access/caller.ts'
import { type Acting, defineAction } from '#src/actions/action.ts'
import { CreatedAt, OwnId, TenantId, UpdatedAt } from '#src/http/fields.ts'
import { readId } from '#src/http/params.ts'
import { Id, IdParams, means, NoContent, PageOf, Time } from '#src/http/schemas.ts'
import {
  addTeamMember,
  createTeam,
  deleteTeam,
  findTeam,
  findTeamMember,
  listTeamMembers,
  listTeams,
  lockTeam,
  removeTeamMember,
  renameTeam,
  teamList,
  teamMemberList,
  teamName,
} from './teams.ts'

const Team = Type.Object(
  {
    id: OwnId,
    tenantId: TenantId,
    name: Type.String({ description: 'For people; several teams may have the same' }),
    createdAt: CreatedAt,
    updatedAt: UpdatedAt,
  },
  { title: 'Team' },
)

const TeamName = Type.Object(
  { name: means(teamName, 'For people; several teams may have the same') },
  { title: 'TeamName', additionalProperties: false },
)

const tag = 'teams'

const TeamMember = Type.Object(
  {
    userId: means(Id, 'The person, as `id` of `GET /users` has it'),
    createdAt: means(Time, 'When the person was added to the team, in UTC'),
  },
  { title: 'TeamMember' },
)

const { id } = IdParams.properties
const MemberParams = Type.Object({ id, userId: id }, { additionalProperties: false })

type By = Acting<TenantPrincipal>

/** The operations on the teams of a tenant. */
export const teamActions = {
  list: defineAction({
    name: 'listTeams',
    rule: { resource: 'team', action: 'read' },
    tag,
    summary: 'List the teams of your tenant, newest first',
    list: teamList,
    result: PageOf(Team),
    run: ({ tx, by }: By, { page }) => listTeams(tx, by, page),
  }),
  create: defineAction({
    name: 'createTeam',
    rule: { resource: 'team', action: 'create' },
    tag,
    summary: 'Create a team without members',
    body: TeamName,
    result: Team,
    status: 201,
    problems: ['quota-exceeded'],
    once: true,
    versioned: Team,
    run: ({ tx, by, now }: By, { body }) => createTeam(tx, by, body.name, now),
  }),
  get: defineAction({
    name: 'getTeam',
    rule: { resource: 'team', action: 'read' },
    tag,
    summary: 'Read a team of your tenant',
    params: IdParams,
    result: Team,
    versioned: Team,
    run: ({ tx, by }: By, { params }) => findTeam(tx, by, readId(params.id)),
  }),
  update: defineAction({
    name: 'updateTeam',
    rule: { resource: 'team', action: 'update' },
    tag,
    summary: 'Rename a team of your tenant',
    params: IdParams,
    body: TeamName,
    result: Team,
    problems: ['quota-exceeded'],
    once: true,
    versioned: Team,
    lock: ({ tx, by }: By, { id }) => lockTeam(tx, by, readId(id)),
    run: ({ tx, by, now }: By, { params, body }) =>
      renameTeam(tx, by, readId(params.id), body.name, now),
  }),
  remove: defineAction({
    name: 'deleteTeam',
    rule: { resource: 'team', action: 'delete' },
    tag,
    summary: 'Delete a team of your tenant; 409 while it owns folders',
    params: IdParams,
    result: NoContent('The team is deleted'),
    status: 204,
    problems: ['conflict'],
    versioned: Team,
    lock: ({ tx, by }: By, { id }) => lockTeam(tx, by, readId(id)),
    run: ({ tx, by }: By, { params }) => deleteTeam(tx, by, readId(params.id)),
  }),
}

/** The operations on the members of a team. */
export const teamMemberActions = {
  list: defineAction({
    name: 'listTeamMembers',
    rule: { resource: 'team', action: 'read' },
    tag,
    summary: 'List the members of a team, by user id',
    params: IdParams,
    list: teamMemberList,
    result: PageOf(TeamMember),
    run: ({ tx, by }: By, { params, page }) => listTeamMembers(tx, teamOf(by, params), page),
  }),
  get: defineAction({
    name: 'getTeamMember',
    rule: { resource: 'team', action: 'read' },
    tag,
    summary: 'Read a membership of a team',
    params: MemberParams,
    result: TeamMember,
    run: ({ tx, by }: By, { params }) =>
      findTeamMember(tx, teamOf(by, params), readId(params.userId)),
  }),
  add: defineAction({
    name: 'addTeamMember',
    rule: { resource: 'team', action: 'update' },
    tag,
    summary: 'Add a member of your tenant to a team',
    description: 'Changes nothing for a member of the team.',
    params: MemberParams,
    result: NoContent('The user is a member of the team'),
    status: 204,
    problems: ['quota-exceeded'],
    async run({ tx, by, now }: By, { params }) {
      await addTeamMember(tx, teamOf(by, params), readId(params.userId), now)
      return true
    },
  }),
  remove: defineAction({
    name: 'removeTeamMember',
    rule: { resource: 'team', action: 'update' },
    tag,
    summary: 'Remove a member from a team; access to its documents ends at once',
    params: MemberParams,
    result: NoContent('The user is no member of the team any more'),
    status: 204,
    run: ({ tx, by }: By, { params }) =>
      removeTeamMember(tx, teamOf(by, params), readId(params.userId)),
  }),
}

function teamOf({ tenantId }: By['by'], { id }: { id: string }) {
  return { tenantId, teamId: readId(id) }
}
