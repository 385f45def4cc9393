import type { Description } from '#test/resources/description.ts'

/** Texts in the folders of teams. */
export const document: Description = {
  ...{ name: 'document', path: '/documents', table: 'documents', specified: true },
  rules: {
    read: { reach: 'chain', token: 'document:read' },
    create: { reach: 'chain', permission: 'post:write', token: 'document:write' },
    update: { reach: 'chain', permission: 'post:write', token: 'document:write' },
  },
  row: ({ tenantId, folderId, teamId }) => ({
    ...{ tenant_id: tenantId, folder_id: folderId, team_id: teamId },
    ...{ title: 'A document', body: 'Its text' },
  }),
  body: { title: 'Rota', body: 'Who opens the gate.' },
  change: { title: 'Another' },
  answer: ({ tenantId, folderId }, now) => ({
    ...{ tenantId, folderId, title: 'Rota', body: 'Who opens the gate.' },
    ...{ createdAt: now, updatedAt: now },
  }),
  forms: { create: { title: 'x', body: 'x' }, change: { title: 'x', body: 'x' } },
}
