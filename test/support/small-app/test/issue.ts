import type { Description } from '#test/resources/description.ts'
import { NewRow } from '#test/resources/new-row.ts'

const rules = {
  read: { reach: 'tenant', permission: 'task:read', token: 'task:read' },
  create: { reach: 'tenant', permission: 'task:write', token: 'task:write' },
  update: { reach: 'tenant', permission: 'task:write', token: 'task:write' },
  delete: { reach: 'tenant', permission: 'task:close', token: 'task:close' },
} as const

/** What issues belong to. */
export const project: Description = {
  ...{ name: 'project', path: '/projects', table: 'projects', rules },
  row: ({ tenantId }) => ({ tenant_id: tenantId, title: 'A project' }),
  body: { title: 'A fence' },
  change: { title: 'A wall' },
  answer: (_, now) => ({
    ...{ title: 'A fence', position: null, found: null, before: null },
    ...{ createdAt: now, updatedAt: now },
  }),
  forms: {
    create: { title: 'A fence', position: '', found: '', before: '' },
    change: { title: 'A wall' },
  },
}

/** What is to be solved in a project. */
export const issue: Description = {
  ...{ name: 'issue', path: '/issues', table: 'issues' },
  rules,
  needs: { key: 'projectId', of: project },
  row: ({ tenantId, userId }) => ({
    ...{ tenant_id: tenantId, title: 'It squeaks', assignee_id: userId },
    project_id: new NewRow('projects', { tenant_id: tenantId, title: 'A project' }),
  }),
  body: { title: 'It squeaks' },
  change: { title: 'It creaks' },
  answer: ({ neededId }, now) => ({
    ...{ projectId: neededId, assetId: null, blockedById: null, assigneeId: null },
    ...{ reviewerId: null, title: 'It squeaks' },
    ...{ createdAt: now, updatedAt: now },
  }),
  events: { POST: 'issue.created', PATCH: 'issue.updated' },
  forms: {
    create: { title: 'It squeaks', assetId: '', blockedById: '', assigneeId: '', reviewerId: '' },
    change: { title: 'It creaks', assetId: '', blockedById: '', assigneeId: '', reviewerId: '' },
  },
}
