import Type from 'typebox'
import type { TenantScope } from '#src/access/caller.ts'
import { type Acting, defineAction } from '#src/actions/action.ts'
import { Id, Nullable, PageOf, Time, Uuid } from '#src/http/schemas.ts'
import { listNotifications as list, notificationList } from './alerts.ts'

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

export const listNotifications = defineAction({
  name: 'listNotifications',
  rule: { resource: 'notification', action: 'read' },
  tag: 'webhook endpoints',
  summary: 'List the alerts about your webhook endpoints, newest first',
  list: notificationList,
  result: PageOf(Notification),
  run: ({ tx, by }: Acting<TenantScope>, { page }) => list(tx, by, page),
})
