// Generated from the API description: npm run generate.

/** Method and path of the operations that get an `Idempotency-Key`. */
export const keyedOperations: ReadonlySet<string> = new Set([
  'POST /tenants/{id}/events',
  'POST /tenants/{id}/webhook-endpoints',
  'POST /auth/tokens',
  'POST /tenants',
  'POST /orders',
  'POST /posts',
  'POST /documents',
  'POST /users',
  'POST /folders',
  'POST /teams',
  'POST /service-tokens',
  'POST /service-tokens/{id}/rotate-secret',
  'POST /webhook-endpoints',
  'POST /webhook-endpoints/{id}/rotate-secret',
  'POST /deliveries/{id}/replay',
  'POST /webhook-endpoints/{id}/replay',
  'POST /webhook-endpoints/{id}/replays/{replayId}/cancel',
  'POST /billing/events/{id}/replay',
  'POST /billing/events/replay',
  'POST /billing/reconciliations',
  'POST /app-tokens',
  'POST /app-tokens/{id}/rotate-secret',
])
