import { choice, created, defineResource, id, initially, line, updated } from 'gatehouse'

/** How many a tenant can have depends on the plan of the person who adds one, and who may book ahead too. */
export const desks = defineResource('desk', {
  plural: 'desks',
  scope: 'tenant',
  fields: {
    id: id(),
    name: line(100),
    status: initially(choice('free', 'booked'), () => 'free' as const),
    createdAt: created(),
    updatedAt: updated(),
  },
  actions: {
    read: { permission: 'desk:use' },
    create: { permission: 'desk:use', accepts: ['name'] },
    update: { permission: 'desk:use', accepts: ['name'] },
    delete: { permission: 'desk:use' },
  },
  own: {
    book: {
      ...{ permission: 'desk:use', feature: 'book-ahead', sets: ['status'] },
      run: ({ update }) => update({ status: 'booked' }),
    },
  },
  events: { created: 'A desk was added' },
  page: { label: 'Desks', heading: 'name', columns: ['status'] },
})
