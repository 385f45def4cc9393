import {
  anyOf,
  author,
  created,
  defineResource,
  haveRole,
  id,
  line,
  optional,
  personOf,
  reference,
  updated,
} from 'gatehouse'

/** What its author and managers see. */
export const notes = defineResource('note', {
  plural: 'notes',
  scope: 'tenant',
  fields: {
    ...{ id: id(), authorId: author(), title: line(200) },
    roomId: optional(reference('room', { onDelete: 'clear' })),
    ...{ createdAt: created(), updatedAt: updated() },
  },
  visible: anyOf(personOf('authorId'), haveRole('manager')),
  filters: ['roomId'],
  actions: {
    read: { permission: 'desk:use' },
    create: { permission: 'desk:use', accepts: ['title', 'roomId'] },
    update: { permission: 'desk:use', accepts: ['title'] },
    delete: { permission: 'desk:use' },
  },
  page: { label: 'Notes', heading: 'title' },
})
