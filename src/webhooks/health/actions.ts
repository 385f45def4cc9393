import Type from 'typebox'
import type { TenantScope } from '#src/access/caller.ts'
import { type Acting, defineAction } from '#src/actions/action.ts'
import { OwnId } from '#src/http/fields.ts'
import { means, Nullable, PageOf, Time, Uuid } from '#src/http/schemas.ts'
import { listNotifications as list, notificationList } from './alerts.ts'

const Notification = Type.Object(
  {
    id: OwnId,
    kind: Type.String({
      description:
        'endpoint.failing, endpoint.disabled, endpoint.recovering or endpoint.recovered; as a warning endpoint.certificate',
    }),
    endpointId: means(Uuid, 'The endpoint that it is about'),
    message: Type.String({ description: 'What has happened and what to do, for people' }),
    createdAt: means(Time, 'When the state of the endpoint changed, in UTC'),
    mailedAt: Nullable(means(Time, 'When it was mailed to the admins; null if it was not')),
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
