import { idInBody, type RouteRows } from './route-row.ts'

const shippingAddress = {
  name: 'Ada',
  line1: '2 Quay',
  city: 'Porto',
  postalCode: '4000-001',
  country: 'PT',
}

const order = {
  lineItems: [{ sku: 'GATE', quantity: 1, unitPrice: 900 }],
  shippingAddress,
  cardLast4: '4242',
}

/** Contract 3: orders, what belongs to a tenant, and its members. */
export const resourceRoutes: RouteRows = {
  'GET /orders': { who: 'order:read', answer: 200, lists: 'order' },
  'POST /orders': { who: 'order:create', answer: 201, body: () => order, needsTenant: true },
  'GET /orders/:id': { who: 'order:read', answer: 200, object: 'order' },
  'PATCH /orders/:id': {
    who: 'order:update',
    answer: 200,
    object: 'order',
    body: () => ({ shippingAddress }),
    heldByKeys: true,
  },
  'GET /posts': { who: 'post:read', answer: 200, lists: 'post' },
  'POST /posts': { who: 'post:create', answer: 201, body: () => ({ title: 'x', body: 'x' }) },
  'GET /posts/:id': { who: 'post:read', answer: 200, object: 'post' },
  'PATCH /posts/:id': {
    who: 'post:update',
    answer: 200,
    object: 'post',
    body: () => ({ title: 'Another' }),
    heldByKeys: true,
  },
  'DELETE /posts/:id': { who: 'post:delete', answer: 204, object: 'post', heldByKeys: true },
  'GET /invoices': { who: 'invoice:read', answer: 200, lists: 'invoice' },
  'GET /invoices/:id': { who: 'invoice:read', answer: 200, object: 'invoice' },
  'GET /documents': { who: 'document:read', answer: 200, lists: 'document' },
  'POST /documents': {
    who: 'document:create',
    answer: 201,
    object: 'folder',
    body: ({ id }) => ({ title: 'x', body: 'x', folderId: idInBody(id) }),
  },
  'GET /documents/:id': { who: 'document:read', answer: 200, object: 'document' },
  'PATCH /documents/:id': {
    who: 'document:update',
    answer: 200,
    object: 'document',
    body: () => ({ title: 'Another' }),
  },
  'GET /folders': { who: 'folder:read', answer: 200, lists: 'folder' },
  'POST /folders': {
    who: 'folder:create',
    answer: 201,
    object: 'team',
    body: ({ id }) => ({ name: 'x', teamId: idInBody(id) }),
    heldByKeys: true,
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
    heldByKeys: true,
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
    body: () => ({ email: `${crypto.randomUUID()}@example.com`, role: 'viewer' }),
  },
  'PATCH /users/:id': {
    who: 'user:update',
    answer: 200,
    object: 'user',
    body: () => ({ department: 'sales' }),
  },
  'DELETE /users/:id': { who: 'user:delete', answer: 204, object: 'user' },
  'GET /app/tenant': { who: 'user:read', answer: 200 },
  'POST /app/tenant/members/change': {
    who: 'user:update',
    answer: 303,
    object: 'user',
    body: ({ id }) => ({ id, role: 'admin', department: 'sales' }),
  },
  'POST /app/tenant/members/remove': {
    who: 'user:delete',
    answer: 303,
    object: 'user',
    body: (params) => params,
  },
  'POST /app/tenant/invitations': {
    who: 'user:create',
    answer: 303,
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
  'GET /audit': { who: 'audit:read', answer: 200, lists: 'audit-entry' },
}
