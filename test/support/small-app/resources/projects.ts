import { created, date, defineResource, id, integer, line, optional, updated } from 'gatehouse'

/** What issues belong to. Some fields have names that statements of lists could use for themselves. */
export const projects = defineResource('project', {
  plural: 'projects',
  scope: 'tenant',
  fields: {
    id: id(),
    title: line(200),
    position: optional(integer()),
    found: optional(date()),
    before: optional(line(20)),
    createdAt: created(),
    updatedAt: updated(),
  },
  sort: ['position'],
  search: ['title', 'before'],
  actions: {
    read: { permission: 'task:read' },
    create: { permission: 'task:write', accepts: ['title', 'position', 'found', 'before'] },
    update: { permission: 'task:write', accepts: ['title'] },
    delete: { permission: 'task:close' },
  },
  page: { label: 'Projects', heading: 'title' },
})
