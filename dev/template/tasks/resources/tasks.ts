import {
  author,
  choice,
  created,
  date,
  defineResource,
  id,
  line,
  optional,
  tenant,
  text,
  updated,
} from 'gatehouse'

/** What a team has to do. Everything about it follows from here: table, rules, API, pages, events. */
export const tasks = defineResource('task', {
  plural: 'tasks',
  scope: 'tenant',
  fields: {
    id: id(),
    tenantId: tenant(),
    authorId: author(),
    title: line(200),
    details: optional(text(5_000)),
    dueOn: optional(date()),
    status: choice('open', 'done'),
    createdAt: created(),
    updatedAt: updated(),
  },
  filters: ['status'],
  search: ['title'],
  actions: {
    read: { permission: 'task:read' },
    create: { permission: 'task:write', accepts: ['title', 'details', 'dueOn', 'status'] },
    update: { permission: 'task:write', accepts: ['title', 'details', 'dueOn', 'status'] },
    delete: { permission: 'task:write' },
  },
  events: {
    created: 'A task was added',
    updated: 'A task was changed',
    deleted: 'A task was deleted',
  },
  page: { label: 'Tasks', heading: 'title', columns: ['dueOn', 'status'] },
})
