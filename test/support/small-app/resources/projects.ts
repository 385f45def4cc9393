import { created, defineResource, id, line, updated } from 'gatehouse'

/** What issues belong to. */
export const projects = defineResource('project', {
  plural: 'projects',
  scope: 'tenant',
  fields: { id: id(), title: line(200), createdAt: created(), updatedAt: updated() },
  actions: {
    read: { permission: 'task:read' },
    create: { permission: 'task:write', accepts: ['title'] },
    update: { permission: 'task:write', accepts: ['title'] },
    delete: { permission: 'task:close' },
  },
  page: { label: 'Projects', heading: 'title' },
})
