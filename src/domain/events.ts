import { resources } from '#src/resources/index.ts'
import { eventKindsOf } from '#src/resources/kit/derived.ts'
import type { EventKind, EventType } from '#src/webhooks/events/types.ts'
import { endpointTest } from '#src/webhooks/probe/test-event.ts'
<<<<<<< HEAD:src/domain/events.ts
import { subscriptionActivated } from './plans.ts'

/** Every kind of event, by its type. */
export const eventKinds: { readonly [Type in EventType]: EventKind<Type> } = {
  ...eventKindsOf<(typeof resources)[number]>(resources),
=======
import { invoiceCreated, invoiceUpdated } from './invoices.ts'
import { orderUpdated } from './orders.ts'
import { subscriptionActivated, subscriptionChanged, subscriptionEnded } from './plans.ts'
import { postDeleted, postUpdated } from './posts.ts'

/** Every kind of event, by its type. */
export const eventKinds: { readonly [Type in EventType]: EventKind<Type> } = {
  'order.updated': orderUpdated,
  'post.updated': postUpdated,
  'post.deleted': postDeleted,
  'invoice.created': invoiceCreated,
  'invoice.updated': invoiceUpdated,
>>>>>>> 0a5295d (feat(billing): plans follow the whole life of a subscription):src/resources/events.ts
  'subscription.activated': subscriptionActivated,
  'subscription.changed': subscriptionChanged,
  'subscription.ended': subscriptionEnded,
  'endpoint.test': endpointTest,
}
