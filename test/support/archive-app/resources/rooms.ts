import { created, defineResource, id, line, reference } from 'gatehouse'

/** What notes are about. */
export const rooms = defineResource('room', {
  plural: 'rooms',
  scope: 'tenant',
  fields: { id: id(), title: line(100), createdAt: created() },
  actions: {
    read: { permission: 'desk:use' },
    create: { permission: 'desk:use', accepts: ['title'] },
  },
  page: { label: 'Rooms', heading: 'title' },
})

/** What opens a room, which not everybody who may read the room may read. */
export const keys = defineResource('key', {
  plural: 'keys',
  scope: 'tenant',
  fields: {
    ...{ id: id(), roomId: reference('room', { onDelete: 'cascade' }), title: line(100) },
    createdAt: created(),
  },
  filters: ['roomId'],
  actions: {
    read: { permission: 'key:give' },
    create: { permission: 'key:give', accepts: ['roomId', 'title'] },
  },
  page: { label: 'Keys', heading: 'title' },
})
