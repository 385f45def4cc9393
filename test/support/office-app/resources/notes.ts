import {
  anyOf,
  author,
  choice,
  created,
  defineResource,
  departmentOf,
  fieldIs,
  haveRole,
  id,
  integer,
  line,
  member,
  optional,
  personOf,
  updated,
} from 'gatehouse'
import Type from 'typebox'

const changed = ['title', 'department', 'assigneeId', 'status', 'place'] as const

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
    status: choice('draft', 'published'),
    createdAt: created(),
    updatedAt: updated(),
  },
  visible: anyOf(
    personOf('authorId'),
    personOf('assigneeId'),
    departmentOf('department'),
    haveRole('manager'),
    fieldIs('status', 'published'),
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
  events: {
    created: 'A note was written',
    updated: 'A note was changed',
    greeted: 'Somebody has joined',
  },
  payloads: { greeted: Type.Object({ userId: Type.Integer() }) },
  page: { label: 'Notes', heading: 'title', columns: ['status', 'place'] },
})
