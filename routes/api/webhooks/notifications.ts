import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { readPage } from '#src/http/lists/pagination.ts'
import { Id, Nullable, PageOf, PageQuery, Time, Uuid } from '#src/http/schemas.ts'
import { listNotifications, notificationList } from '#src/webhooks/health/alerts.ts'

const Notification = Type.Object(
  {
    id: Id,
    kind: Type.String({
      description:
        'endpoint.failing, endpoint.disabled, endpoint.recovering or endpoint.recovered; as a warning endpoint.certificate',
    }),
    endpointId: Uuid,
    message: Type.String(),
    createdAt: Time,
    mailedAt: Nullable(Time),
  },
  { title: 'Notification' },
)

/** Alerts about webhook endpoints, for the administrators of a tenant. */
const notifications: FastifyPluginAsyncTypebox = async function notifications(app) {
  app.get(
    '/notifications',
    {
      config: { access: { resource: 'notification', action: 'read' } },
      schema: {
        operationId: 'listNotifications',
        tags: ['webhook endpoints'],
        summary: 'List the alerts about your webhook endpoints, newest first',
        querystring: PageQuery,
        response: { 200: PageOf(Notification) },
      },
    },
    async (request) => {
      const page = readPage(request.query, notificationList.name, notificationList.forms)
      return app.db.read(request.tenantPrincipalEntry, (tx, caller) =>
        listNotifications(tx, caller, page),
      )
    },
  )
}

export default notifications
