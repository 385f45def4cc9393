import {
  author,
  authorService,
  choice,
  created,
  defineResource,
  id,
  initially,
  line,
  tenant,
  updated,
} from 'gatehouse'

/** What a tenant has to do. */
export const tasks = defineResource('task', {
  plural: 'tasks',
  scope: 'tenant',
  forServices: true,
  fields: {
    id: id(),
    tenantId: tenant(),
    authorId: author('null after the author has left, or if it was a service'),
    authorServiceId: authorService(),
    title: line(200),
    status: initially(choice('open', 'done'), () => 'open' as const),
    createdAt: created(),
    updatedAt: updated(),
  },
  filters: ['status'],
  actions: {
    read: { permission: 'task:read' },
    create: { permission: 'task:write', accepts: ['title'] },
    update: { permission: 'task:write', accepts: ['title', 'status'] },
    delete: { permission: 'task:close' },
  },
  events: { created: 'A task was added', deleted: 'A task was deleted' },
  page: { label: 'Tasks', heading: 'title', columns: ['status'] },
})
