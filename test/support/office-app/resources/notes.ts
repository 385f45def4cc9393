import {
  allOf,
  anyOf,
  author,
  type Condition,
  choice,
  created,
  defineResource,
  departmentOf,
  fieldIs,
  haveCredential,
  havePlan,
  haveRole,
  id,
  integer,
  line,
  member,
  optional,
  personOf,
  teamOf,
  updated,
} from 'gatehouse'
import Type from 'typebox'

const changed = ['title', 'department', 'assigneeId', 'status', 'place', 'teamId'] as const

const ofAnotherTeam: Condition<{ readonly teamId: number | null }> = {
  name: 'note-of-another-team',
  words: 'only by its team',
  detail: 'The note is of another team.',
  needsTeams: true,
  forbids: ({ caller, object }) => object.teamId !== null && !caller.teams.includes(object.teamId),
}

const byToken: Condition<object> = {
  name: 'note-by-token',
  words: 'only in a session',
  detail: 'Stamp it yourself.',
  forbids: ({ caller }) => caller.credential !== 'session',
}

/** What some members see only, for each reason that there is. */
export const notes = defineResource('note', {
  plural: 'notes',
  scope: 'tenant',
  fields: {
    id: id(),
    authorId: author(),
    assigneeId: optional(member()),
    department: optional(line(100)),
    title: line(200),
    place: optional(integer()),
    teamId: optional(integer()),
    status: choice('draft', 'published', 'paid', 'gift', 'robot'),
    createdAt: created(),
    updatedAt: updated(),
  },
  visible: anyOf(
    personOf('authorId'),
    personOf('assigneeId'),
    departmentOf('department'),
    haveRole('manager'),
    fieldIs('status', 'published'),
    teamOf('teamId'),
    allOf(fieldIs('status', 'paid'), havePlan('pro', 'team')),
    allOf(fieldIs('status', 'gift'), havePlan('free')),
    allOf(fieldIs('status', 'robot'), haveCredential('token')),
  ),
  filters: ['status'],
  sort: ['place'],
  search: ['title'],
  actions: {
    read: { permission: 'desk:use' },
    create: { permission: 'desk:use', accepts: changed },
    update: { permission: 'desk:use', accepts: changed },
    delete: { permission: 'desk:use' },
  },
  own: {
    stamp: {
      permission: 'desk:use',
      unless: [ofAnotherTeam, byToken],
      sets: ['place'],
      run: ({ update }) => update({ place: 7 }),
    },
  },
  events: {
    created: 'A note was written',
    updated: 'A note was changed',
    greeted: 'Somebody has joined',
  },
  payloads: { greeted: Type.Object({ userId: Type.Integer() }) },
  page: { label: 'Notes', heading: 'title', columns: ['status', 'place'] },
})
