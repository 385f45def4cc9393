import { idInBody, type RouteRows } from '#dev/testing/access/route-row.ts'

/** Contract 3: routes for operators and providers. */
export const serviceRoutes: RouteRows = {
  'GET /billing/events': { who: 'billing-event:read', answer: 200, lists: 'billing-event' },
  'GET /billing/events/:id': { who: 'billing-event:read', answer: 200, object: 'billing-event' },
  'POST /billing/events/:id/replay': {
    who: 'billing-event:replay',
    answer: 202,
    object: 'billing-event',
  },
  'POST /billing/events/replay': {
    who: 'billing-event:replay',
    answer: 202,
    body: () => ({ status: 'dead' }),
  },
  'POST /billing/events/:id/dismiss': {
    who: 'billing-event:update',
    answer: 200,
    object: 'billing-event',
    body: () => ({ reason: 'a test' }),
  },
  'GET /billing/replays/:id': {
    who: 'billing-event:replay',
    answer: 200,
    object: 'billing-replay',
  },
  'GET /billing/reconciliations': {
    who: 'billing-event:read',
    answer: 200,
    lists: 'billing-reconciliation',
  },
  'GET /billing/reconciliations/:id': {
    who: 'billing-event:read',
    answer: 200,
    object: 'billing-reconciliation',
  },
  'POST /billing/reconciliations': {
    who: 'billing-event:replay',
    answer: 202,
    body: () => ({ dryRun: true }),
  },
  'GET /billing/customers': {
    who: 'billing-customer:read',
    answer: 200,
    lists: 'billing-customer',
  },
  'GET /billing/subscriptions': { who: 'billing-customer:read', answer: 200 },
  'PUT /billing/customers/:customer': {
    who: 'billing-customer:update',
    answer: 200,
    object: 'billing-customer',
    body: ({ userId }) => ({ userId: idInBody(userId) }),
  },
  'GET /app-tokens': { who: 'app-token:read', answer: 200, lists: 'app-token' },
  'POST /app-tokens': {
    who: 'app-token:create',
    answer: 201,
    body: () => ({ name: 'x', permissions: ['event:publish'] }),
  },
  'GET /app-tokens/:id': { who: 'app-token:read', answer: 200, object: 'app-token' },
  'PATCH /app-tokens/:id': {
    who: 'app-token:update',
    answer: 200,
    object: 'app-token',
    body: () => ({ name: 'y' }),
  },
  'POST /app-tokens/:id/rotate-secret': {
    who: 'app-token:update',
    answer: 200,
    object: 'app-token',
  },
  'DELETE /app-tokens/:id': { who: 'app-token:delete', answer: 204, object: 'app-token' },
  'GET /event-types': { who: 'event-type:read', answer: 200 },
  'PUT /event-types/:name': {
    who: 'event-type:update',
    answer: 200,
    body: () => ({ description: 'x' }),
  },
  'POST /tenants/:id/events': {
    who: 'event:publish',
    answer: 201,
    object: 'tenant',
    body: () => ({ type: 'demo', data: {} }),
  },
  'POST /tenants/:id/portal-links': {
    who: 'portal-link:create',
    answer: 201,
    object: 'tenant',
  },
  'DELETE /tenants/:id/portal-links/:linkId': {
    who: 'portal-link:delete',
    answer: 204,
    object: 'portal-link',
  },
  'GET /tenants/:id/members': { who: 'member:read', answer: 200, object: 'tenant' },
  'GET /tenants/:id/webhook-endpoints': {
    who: 'webhook-endpoint:read',
    forApp: true,
    answer: 200,
    object: 'tenant',
  },
  'POST /tenants/:id/webhook-endpoints': {
    who: 'webhook-endpoint:create',
    forApp: true,
    answer: 201,
    object: 'tenant',
    body: () => ({ url: 'https://8.8.8.8/' }),
  },
  'DELETE /tenants/:id/webhook-endpoints/:endpointId': {
    who: 'webhook-endpoint:delete',
    forApp: true,
    answer: 204,
    object: 'customer-endpoint',
  },
  'GET /app/billing/customers': { who: 'billing-customer:read', answer: 200 },
  'GET /app/billing/customers/new': { who: 'billing-customer:update', answer: 200 },
  'POST /app/billing/customers/new': {
    who: 'billing-customer:update',
    answer: 303,
    object: 'billing-customer',
    outOfReach: 400, // the field is wrong, and the form is there
    body: ({ customer, userId }) => ({ customer, user: userId }),
  },
  'POST /app/billing/customers/unlink': {
    who: 'billing-customer:update',
    answer: 303,
    body: () => ({ customer: 'cus_x', confirm: 'yes' }),
  },
  'GET /app/billing/unlinked': { who: 'billing-customer:read', answer: 200 },
  'POST /app/billing/unlinked': {
    who: 'billing-customer:update',
    answer: 303,
    object: 'billing-customer',
    outOfReach: 400, // the field is wrong, and the form is there
    body: ({ customer, userId }) => ({ customer, user: userId }),
  },
  'POST /app/billing/unlinked/dismiss': {
    who: 'billing-event:update',
    answer: 303,
    object: 'unlinked-event',
    body: ({ customer }) => ({ submission: crypto.randomUUID(), customer, reason: 'a test' }),
  },
  'GET /app/app-tokens': { who: 'app-token:read', answer: 200 },
  'GET /app/app-tokens/new': { who: 'app-token:create', answer: 200 },
  'POST /app/app-tokens/new': {
    who: 'app-token:create',
    answer: 303,
    body: () => ({
      ...{ submission: crypto.randomUUID(), name: 'ci', days: '30', permissions: 'event:publish' },
    }),
  },
  'POST /app/app-tokens/rotate': {
    who: 'app-token:update',
    answer: 303,
    object: 'app-token',
    body: (params) => ({ ...params, submission: crypto.randomUUID(), confirm: 'yes' }),
  },
  'POST /app/app-tokens/remove': {
    who: 'app-token:delete',
    answer: 303,
    object: 'app-token',
    body: (params) => ({ ...params, confirm: 'yes' }),
  },
  'GET /app/operations': { who: 'operation:read', answer: 200 },
  'GET /app/operations/work': { who: 'operation:read', answer: 200 },
  'GET /app/operations/counters': { who: 'operation:read', answer: 200 },
  'GET /app/billing': { who: 'billing-event:read', answer: 200 },
  'GET /app/billing/:id': { who: 'billing-event:read', answer: 200, object: 'billing-event' },
  'POST /app/billing/replay': {
    who: 'billing-event:replay',
    answer: 303,
    body: () => ({ submission: crypto.randomUUID() }),
  },
  'POST /app/billing/:id/replay': {
    who: 'billing-event:replay',
    answer: 303,
    object: 'billing-event',
    body: () => ({ submission: crypto.randomUUID() }),
  },
  'POST /app/billing/:id/dismiss': {
    who: 'billing-event:update',
    answer: 303,
    object: 'billing-event',
    body: () => ({ submission: crypto.randomUUID(), reason: 'a test' }),
  },
  'GET /app/billing/replays/:id': {
    who: 'billing-event:replay',
    answer: 200,
    object: 'billing-replay',
  },
  'GET /app/billing/replays/:id/events': {
    who: 'billing-event:replay',
    answer: 200,
    object: 'billing-replay',
  },
  'POST /webhooks/billing': { who: 'signature', answer: 400 },
}
