import type { RouteRows } from '#dev/testing/access/route-row.ts'

const fields = { url: 'https://8.8.8.8/', description: '', signature: 'spec' }
const object = 'webhook-endpoint'
/** A new form each time: the same one again would have no effect. */
const submission = () => ({ submission: crypto.randomUUID() })

/** The webhooks dashboard, with the rules of the resources it shows and changes. */
export const webhookPageRoutes: RouteRows = {
  'GET /app/webhooks': { who: 'webhook-endpoint:read', answer: 200 },
  'GET /app/webhooks/new': { who: 'webhook-endpoint:create', answer: 200 },
  'POST /app/webhooks/new': {
    who: 'webhook-endpoint:create',
    answer: 303,
    body: () => ({ ...fields, ...submission() }),
  },
  'GET /app/webhooks/:id': { who: 'webhook-endpoint:read', answer: 200, object },
  'GET /app/webhooks/:id/deliveries': { who: 'webhook-endpoint:read', answer: 200, object },
  'GET /app/webhooks/:id/probe': { who: 'webhook-endpoint:read', answer: 200, object },
  'GET /app/webhooks/:id/settings': { who: 'webhook-endpoint:read', answer: 200, object },
  'POST /app/webhooks/:id/settings': {
    who: 'webhook-endpoint:update',
    answer: 303,
    object,
    // A tenant has a URL once.
    body: ({ id }) => ({ ...fields, url: `https://8.8.8.8/${id}` }),
  },
  'POST /app/webhooks/:id/test': {
    who: 'webhook-endpoint:update',
    answer: 303,
    object,
    body: submission,
  },
  'POST /app/webhooks/:id/probe': {
    who: 'webhook-endpoint:update',
    answer: 303,
    object,
    body: submission,
  },
  'POST /app/webhooks/:id/settings/rotate': {
    who: 'webhook-endpoint:update',
    answer: 303,
    object,
    body: () => ({ overlapSeconds: '0', ...submission() }),
  },
  'POST /app/webhooks/:id/enable': { who: 'webhook-endpoint:update', answer: 303, object },
  'POST /app/webhooks/:id/resume': { who: 'webhook-endpoint:update', answer: 303, object },
  'POST /app/webhooks/:id/settings/pause': {
    who: 'webhook-endpoint:update',
    answer: 303,
    object,
    body: () => ({ deliveries: 'hold' }),
  },
  'POST /app/webhooks/:id/settings/remove': {
    who: 'webhook-endpoint:delete',
    answer: 303,
    object,
    body: () => ({ confirm: 'yes', ...submission() }),
    heldByKeys: true,
  },
  'GET /app/webhooks/:id/deliveries/events': { who: 'delivery:read', answer: 200, object },
  'GET /app/webhooks/:id/replays/new': { who: 'delivery:replay', answer: 200, object },
  'POST /app/webhooks/:id/replays': {
    who: 'delivery:replay',
    answer: 303,
    object,
    body: () => ({
      from: '2026-01-01T00:00:00Z',
      to: '2026-01-02T00:00:00Z',
      status: 'exhausted',
      ...submission(),
    }),
  },
  'POST /app/webhooks/:id/replays/:replayId/cancel': {
    who: 'delivery:replay',
    answer: 303,
    object: 'endpoint-replay',
  },
  'GET /app/webhooks/:id/replays/:replayId': {
    who: 'delivery:read',
    answer: 200,
    object: 'endpoint-replay',
  },
  'GET /app/webhooks/:id/replays/:replayId/events': {
    who: 'delivery:read',
    answer: 200,
    object: 'endpoint-replay',
  },
  'GET /app/events': { who: 'event:read', answer: 200 },
  'GET /app/events/:id': { who: 'event:read', answer: 200, object: 'event' },
  'GET /app/event-types': { who: 'event:read', answer: 200 },
  'GET /app/event-types/:name': { who: 'event:read', answer: 200 },
  'GET /app/deliveries/:id': { who: 'delivery:read', answer: 200, object: 'delivery' },
  'POST /app/deliveries/:id/check': {
    who: 'delivery:read',
    answer: 200,
    object: 'delivery',
    body: () => ({ headers: 'x: y', body: '', secret: '' }),
  },
  'POST /app/deliveries/:id/replay': {
    who: 'delivery:replay',
    answer: 303,
    object: 'delivery',
    body: submission,
  },
}
