import { routesOf } from '#test/resources/description.ts'
import { descriptions } from '#test/resources/index.ts'
import { idInBody, type RouteRows } from './route-row.ts'

const shippingAddress = {
  name: 'Ada',
  line1: '2 Quay',
  city: 'Porto',
  postalCode: '4000-001',
  country: 'PT',
}

/** Contract 3: orders, resources of a tenant, and its members. */
export const resourceRoutes: RouteRows = {
  ...routesOf(descriptions),
  'GET /app/orders/:id': { who: 'order:read', answer: 200, object: 'order' },
  'POST /app/orders/:id/address': {
    who: 'order:update',
    answer: 303,
    object: 'order',
    body: () => ({ ...shippingAddress, line2: '' }),
  },
  'GET /app/orders': { who: 'order:read', answer: 200 },
  'GET /app/invoices': { who: 'invoice:read', answer: 200 },
  'GET /app/teams': { who: 'team:read', answer: 200 },
  'POST /app/teams': {
    who: 'team:create',
    answer: 303,
    body: () => ({ name: 'x', submission: crypto.randomUUID() }),
  },
  'POST /app/teams/:id/delete': { who: 'team:delete', answer: 303, object: 'team' },
  'POST /app/teams/:id/members': {
    who: 'team:update',
    answer: 303,
    object: 'team-member',
    body: ({ userId }) => ({ userId }),
  },
  'POST /app/teams/:id/members/remove': {
    who: 'team:update',
    answer: 303,
    object: 'team-member',
    body: ({ userId }) => ({ userId }),
  },
  'POST /app/teams/:id/folders': {
    who: 'folder:create',
    answer: 303,
    object: 'team',
    body: () => ({ name: 'x', parentId: '', submission: crypto.randomUUID() }),
  },
  'POST /app/folders/:id/delete': { who: 'folder:delete', answer: 303, object: 'folder' },
  'GET /folders': { who: 'folder:read', answer: 200, lists: 'folder' },
  'POST /folders': {
    who: 'folder:create',
    answer: 201,
    object: 'team',
    body: ({ id }) => ({ name: 'x', teamId: idInBody(id) }),
  },
  'GET /folders/:id': { who: 'folder:read', answer: 200, object: 'folder' },
  'PATCH /folders/:id': {
    who: 'folder:update',
    answer: 200,
    object: 'folder',
    body: () => ({ name: 'Another' }),
  },
  'DELETE /folders/:id': { who: 'folder:delete', answer: 204, object: 'folder' },
  'GET /teams': { who: 'team:read', answer: 200, lists: 'team' },
  'POST /teams': { who: 'team:create', answer: 201, body: () => ({ name: 'x' }) },
  'GET /teams/:id': { who: 'team:read', answer: 200, object: 'team' },
  'PATCH /teams/:id': {
    who: 'team:update',
    answer: 200,
    object: 'team',
    body: () => ({ name: 'Another' }),
  },
  'DELETE /teams/:id': { who: 'team:delete', answer: 204, object: 'team' },
  'GET /teams/:id/members': { who: 'team:read', answer: 200, object: 'team' },
  'GET /teams/:id/members/:userId': { who: 'team:read', answer: 200, object: 'team-member' },
  'PUT /teams/:id/members/:userId': {
    who: 'team:update',
    answer: 204,
    object: 'team-member',
  },
  'DELETE /teams/:id/members/:userId': {
    who: 'team:update',
    answer: 204,
    object: 'team-member',
  },
  'GET /users': { who: 'user:read', answer: 200, lists: 'user' },
  'POST /users': {
    who: 'user:create',
    answer: 201,
    gives: 'viewer',
    body: () => ({ email: `${crypto.randomUUID()}@example.com`, role: 'viewer' }),
  },
  'PATCH /users/:id': {
    who: 'user:update',
    answer: 200,
    object: 'user',
    body: () => ({ department: 'sales' }),
    heldByKeys: true,
  },
  'DELETE /users/:id': { who: 'user:delete', answer: 204, object: 'user', heldByKeys: true },
  'GET /app/tenant': { who: 'user:read', answer: 200 },
  'POST /app/tenant/members/change': {
    who: 'user:update',
    answer: 303,
    object: 'user',
    gives: 'admin',
    body: ({ id }) => ({ id, role: 'admin', department: 'sales' }),
    heldByKeys: true,
  },
  'POST /app/tenant/members/remove': {
    who: 'user:delete',
    answer: 303,
    object: 'user',
    heldByKeys: true,
    body: (params) => ({ ...params, confirm: 'yes' }),
  },
  'POST /app/tenant/invitations': {
    who: 'user:create',
    answer: 303,
    gives: 'viewer',
    body: () => ({
      email: `${crypto.randomUUID()}@example.com`,
      role: 'viewer',
      department: '',
    }),
  },
  'POST /app/tenant/invitations/withdraw': {
    who: 'user:delete',
    answer: 303,
    object: 'invitation',
    body: (params) => params,
  },
  'GET /invitations': {
    who: 'user:read',
    answer: 200,
    lists: 'invitation',
  },
  'DELETE /invitations/:id': {
    who: 'user:delete',
    answer: 204,
    object: 'invitation',
  },
  'GET /usage': { who: 'usage:read', answer: 200 },
  'GET /audit': {
    who: 'audit:read',
    answer: 200,
    lists: 'audit-entry',
    narrowedByQuery: true,
  },
  'GET /app/audit': { who: 'audit:read', answer: 200 },
  'GET /app/audit/export': { who: 'audit:read', answer: 200 },
}
