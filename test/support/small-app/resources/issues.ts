import { created, defineResource, id, line, member, optional, reference, updated } from 'gatehouse'

const changed = ['title', 'assetId', 'blockedById', 'assigneeId', 'reviewerId'] as const

/** What is to be solved: a reference of each kind, one of them to another row of its own, and members. */
export const issues = defineResource('issue', {
  plural: 'issues',
  scope: 'tenant',
  fields: {
    id: id(),
    projectId: reference('project', { onDelete: 'cascade' }),
    assetId: optional(reference('asset', { onDelete: 'restrict' })),
    blockedById: optional(reference('issue', { onDelete: 'clear' })),
    assigneeId: optional(member()),
    reviewerId: optional(member({ onLeave: 'keep' })),
    title: line(200),
    createdAt: created(),
    updatedAt: updated(),
  },
  filters: ['projectId', 'assigneeId'],
  unique: [['projectId', 'title']],
  actions: {
    read: { permission: 'task:read' },
    create: { permission: 'task:write', accepts: ['projectId', ...changed] },
    update: { permission: 'task:write', accepts: changed },
    delete: { permission: 'task:close' },
  },
  events: { created: 'An issue was opened', updated: 'An issue was changed' },
  page: { label: 'Issues', heading: 'title', columns: ['projectId', 'assigneeId', 'assetId'] },
})
