import type { Description } from '#test/resources/description.ts'

/** Texts of a tenant. */
export const post: Description = {
  ...{ name: 'post', path: '/posts', table: 'posts', services: true, specified: true },
  rules: {
    read: { reach: 'tenant', permission: 'post:read', token: 'post:read' },
    create: { reach: 'tenant', permission: 'post:write', token: 'post:write' },
    update: { reach: 'tenant', permission: 'post:write', token: 'post:write', attribute: true },
    delete: { reach: 'tenant', permission: 'post:delete', token: 'post:delete' },
  },
  row: ({ tenantId, userId, department }) => ({
    ...{ tenant_id: tenantId, author_id: userId, department, title: 'A title', body: 'A body' },
  }),
  body: { title: 'Opening hours', body: 'The gate opens at nine.' },
  change: { title: 'Another' },
  answer: ({ tenantId, userId, department }, now) => ({
    ...{ tenantId, authorId: userId, department, title: 'Opening hours' },
    ...{ body: 'The gate opens at nine.', createdAt: now, updatedAt: now },
  }),
  events: { PATCH: 'post.updated', DELETE: 'post.deleted' },
  forms: { create: { title: 'x', body: 'x', department: '' }, change: { title: 'x', body: 'x' } },
}
