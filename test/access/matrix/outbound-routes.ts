import type { RouteRows } from '#dev/testing/access/route-row.ts'

const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }

/** Contract 3 and 7: endpoints, deliveries and the event feed. */
export const outboundRoutes: RouteRows = {
  'GET /webhook-endpoints': {
    who: 'webhook-endpoint:read',
    answer: 200,
    lists: 'webhook-endpoint',
  },
  'POST /webhook-endpoints': {
    who: 'webhook-endpoint:create',
    answer: 201,
    body: () => ({ url: 'https://8.8.8.8/' }),
  },
  'GET /webhook-endpoints/:id': {
    who: 'webhook-endpoint:read',
    answer: 200,
    object: 'webhook-endpoint',
  },
  'PATCH /webhook-endpoints/:id': {
    who: 'webhook-endpoint:update',
    answer: 200,
    object: 'webhook-endpoint',
    body: () => ({ description: 'Another' }),
  },
  'DELETE /webhook-endpoints/:id': {
    who: 'webhook-endpoint:delete',
    answer: 204,
    object: 'webhook-endpoint',
    heldByKeys: true,
  },
  'POST /webhook-endpoints/:id/rotate-secret': {
    who: 'webhook-endpoint:update',
    answer: 200,
    object: 'webhook-endpoint',
    body: () => ({ overlapSeconds: 0 }),
  },
  'POST /webhook-endpoints/:id/enable': {
    who: 'webhook-endpoint:update',
    answer: 200,
    object: 'webhook-endpoint',
  },
  'POST /webhook-endpoints/:id/pause': {
    who: 'webhook-endpoint:update',
    answer: 200,
    object: 'webhook-endpoint',
    body: () => ({ keep: true }),
  },
  'POST /webhook-endpoints/:id/resume': {
    who: 'webhook-endpoint:update',
    answer: 200,
    object: 'webhook-endpoint',
  },
  'POST /webhook-endpoints/:id/test': {
    who: 'webhook-endpoint:update',
    answer: 200,
    object: 'webhook-endpoint',
  },
  'POST /webhook-endpoints/:id/probe': {
    who: 'webhook-endpoint:update',
    answer: 200,
    object: 'webhook-endpoint',
  },
  'GET /webhook-endpoints/:id/probe': {
    who: 'webhook-endpoint:read',
    answer: 200,
    object: 'webhook-endpoint',
  },
  'POST /webhook-endpoints/:id/replay': {
    who: 'delivery:replay',
    answer: 202,
    object: 'webhook-endpoint',
    body: () => range,
  },
  'GET /webhook-endpoints/:id/replays/:replayId': {
    who: 'delivery:read',
    answer: 200,
    object: 'endpoint-replay',
  },
  'POST /webhook-endpoints/:id/replays/:replayId/cancel': {
    who: 'delivery:replay',
    answer: 200,
    object: 'endpoint-replay',
  },
  'GET /webhook-endpoints/:id/deliveries/count': {
    who: 'delivery:read',
    answer: 200,
    object: 'webhook-endpoint',
  },
  'GET /webhook-endpoints/:id/deliveries': {
    who: 'delivery:read',
    answer: 200,
    object: 'webhook-endpoint',
  },
  'GET /deliveries/:id': { who: 'delivery:read', answer: 200, object: 'delivery' },
  'POST /deliveries/:id/replay': { who: 'delivery:replay', answer: 202, object: 'delivery' },
  'GET /notifications': { who: 'notification:read', answer: 200, lists: 'notification' },
  'GET /events': {
    who: 'event:read',
    answer: 200,
    lists: 'event',
    cursor: 'after',
    lags: true,
  },
}
