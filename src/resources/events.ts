import type { EventKind, EventType } from '#src/webhooks/events/types.ts'
import { endpointTest } from '#src/webhooks/probe/test-event.ts'
import { invoiceCreated } from './invoices.ts'
import { orderUpdated } from './orders.ts'
import { subscriptionActivated } from './plans.ts'
import { postDeleted, postUpdated } from './posts.ts'

/** Every kind of event, by its type. */
export const eventKinds: { readonly [Type in EventType]: EventKind<Type> } = {
  'order.updated': orderUpdated,
  'post.updated': postUpdated,
  'post.deleted': postDeleted,
  'invoice.created': invoiceCreated,
  'subscription.activated': subscriptionActivated,
  'endpoint.test': endpointTest,
}
