import {
  anyOf,
  author,
  created,
  defineResource,
  haveRole,
  id,
  line,
  money,
  optional,
  personOf,
  reference,
  updated,
} from 'gatehouse'

/** What its author and managers see, with a cost that only managers do. */
export const notes = defineResource('note', {
  plural: 'notes',
  scope: 'tenant',
  fields: {
    ...{ id: id(), authorId: author(), title: line(200) },
    roomId: optional(reference('room', { onDelete: 'clear' })),
    cost: optional(money(), { permission: 'key:give' }),
    ...{ createdAt: created(), updatedAt: updated() },
  },
  visible: anyOf(personOf('authorId'), haveRole('manager')),
  filters: ['roomId'],
  actions: {
    read: { permission: 'desk:use' },
    create: { permission: 'desk:use', accepts: ['title', 'roomId', 'cost'] },
    update: { permission: 'desk:use', accepts: ['title', 'cost'] },
    delete: { permission: 'desk:use' },
  },
  page: { label: 'Notes', heading: 'title', columns: ['cost'] },
})
