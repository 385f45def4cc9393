import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { listNotifications } from '#src/webhooks/health/actions.ts'
import { deliveryActions, listEvents, replayActions } from '#src/webhooks/history/actions.ts'

const at = { entryOf: ({ tenantPrincipalEntry }: FastifyRequest) => tenantPrincipalEntry }

/** Deliveries of events to endpoints. */
export const deliveries: FastifyPluginAsyncTypebox = async function deliveries(app) {
  app.api('GET /webhook-endpoints/:id/deliveries', deliveryActions.list, at)
  app.api('GET /webhook-endpoints/:id/deliveries/count', deliveryActions.count, at)
  app.api('GET /deliveries/:id', deliveryActions.get, at)
  app.api('POST /deliveries/:id/replay', deliveryActions.replay, at)
}

/** Sending many deliveries again. */
export const endpointReplays: FastifyPluginAsyncTypebox = async function endpointReplays(app) {
  const { create, get, cancel } = replayActions(app.queue)
  app.api('POST /webhook-endpoints/:id/replay', create, at)
  app.api('GET /webhook-endpoints/:id/replays/:replayId', get, at)
  app.api('POST /webhook-endpoints/:id/replays/:replayId/cancel', cancel, at)
}

/** All events of a tenant, for a receiver that has missed deliveries. */
export const events: FastifyPluginAsyncTypebox = async function events(app) {
  app.api('GET /events', listEvents, at)
}

/** Alerts about webhook endpoints, for the administrators of a tenant. */
export const notifications: FastifyPluginAsyncTypebox = async function notifications(app) {
  app.api('GET /notifications', listNotifications, at)
}
