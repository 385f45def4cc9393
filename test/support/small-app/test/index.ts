import type { RouteRows } from '#dev/testing/access/route-row.ts'
import { like, type Settled } from '#test/access/matrix/settled.ts'
import type { Description } from '#test/resources/description.ts'
import { asset } from './asset.ts'
import { issue, project } from './issue.ts'

const memo: Description = {
  ...{ name: 'memo', path: '/memos', table: 'memos' },
  rules: {
    read: { reach: 'owner', token: 'memo:read' },
    create: { reach: 'owner', token: 'memo:write' },
    update: { reach: 'owner', token: 'memo:write' },
    delete: { reach: 'owner', token: 'memo:write' },
  },
  row: ({ tenantId, userId }) => ({ tenant_id: tenantId, user_id: userId, title: 'A memo' }),
  body: { title: 'Buy a gate' },
  change: { title: 'Another' },
  answer: ({ tenantId, userId }, now) => ({
    ...{ tenantId, userId, afterId: null, title: 'Buy a gate', details: null },
    ...{ createdAt: now, updatedAt: now },
  }),
  events: { PATCH: 'memo.updated' },
}

const task: Description = {
  ...{ name: 'task', path: '/tasks', table: 'tasks', services: true },
  rules: {
    read: { reach: 'tenant', permission: 'task:read', token: 'task:read' },
    create: { reach: 'tenant', permission: 'task:write', token: 'task:write' },
    update: { reach: 'tenant', permission: 'task:write', token: 'task:write' },
    delete: { reach: 'tenant', permission: 'task:close', token: 'task:close' },
    finish: { reach: 'tenant', permission: 'task:write', token: 'task:write' },
    rename: { reach: 'tenant', permission: 'task:close', token: 'task:close' },
    remind: { reach: 'tenant', permission: 'task:write', token: 'task:write' },
  },
  own: {
    finish: {},
    remind: {},
    rename: { body: { title: 'Paint it' }, form: { title: 'Paint it' } },
  },
  row: ({ tenantId, userId }) => ({
    ...{ tenant_id: tenantId, author_id: userId, title: 'A task', status: 'open' },
  }),
  body: { title: 'Oil the gate' },
  change: { status: 'done' },
  answer: ({ tenantId, userId }, now) => ({
    ...{ tenantId, authorId: userId, title: 'Oil the gate', status: 'open' },
    ...{ createdAt: now, updatedAt: now },
  }),
  events: { POST: 'task.created', DELETE: 'task.deleted' },
  forms: { create: { title: 'x' }, change: { title: 'x', status: 'done' } },
}

const page: Description = {
  ...{ name: 'page', path: '/pages', table: 'pages' },
  rules: {
    read: { reach: 'chain', token: 'page:read' },
    create: { reach: 'chain', permission: 'page:edit', token: 'page:write' },
    update: { reach: 'chain', permission: 'page:edit', token: 'page:write' },
    delete: { reach: 'chain', permission: 'page:remove', token: 'page:write' },
  },
  row: ({ tenantId, folderId, teamId }) => ({
    ...{ tenant_id: tenantId, folder_id: folderId, team_id: teamId, words: 'Some words' },
  }),
  body: { words: 'Who opens the gate.' },
  change: { words: 'Others' },
  answer: ({ tenantId, folderId }, now) => ({
    ...{ tenantId, folderId, words: 'Who opens the gate.', createdAt: now, updatedAt: now },
  }),
}

/** The app a second time, as the tests of the core ask it. */
export const descriptions: readonly Description[] = [memo, task, page, project, issue, asset]

/** Its roles, of which one may do what an editor may not. */
export const roles = {
  viewer: ['task:read'],
  editor: ['task:read', 'task:write', 'page:edit'],
  accountant: ['task:read', 'task:write', 'task:close', 'asset:appraise'],
  admin: [
    ...['task:read', 'task:write', 'task:close', 'page:edit', 'page:remove', 'asset:appraise'],
    'user:manage',
  ],
}

/** It has no further routes. */
export const routes: RouteRows = {}

/** What must occur in each scope. */
export const settled: Settled = {
  'what a colleague owns is a 404, for admins too': like({
    route: 'DELETE /memos/:id',
    actor: 'admin, at night',
    place: 'a colleague’s',
    expected: 404,
  }),
  'a service does what its permissions name': like({
    route: 'POST /tasks',
    actor: 'service that may do what is needed',
    expected: 201,
  }),
  'what is in a folder needs the chain, from admins too': like({
    route: 'DELETE /pages/:id',
    actor: 'admin, at night',
    place: 'a colleague’s',
    expected: 404,
  }),
}
