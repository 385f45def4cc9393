import { resources } from '#src/resources/index.ts'
import { eventKindsOf } from '#src/resources/kit/derived.ts'
import type { EventKind, EventType } from '#src/webhooks/events/types.ts'
import { endpointTest } from '#src/webhooks/probe/test-event.ts'
import { subscriptionActivated, subscriptionChanged, subscriptionEnded } from './plans.ts'

/** Every kind of event, by its type. */
export const eventKinds: { readonly [Type in EventType]: EventKind<Type> } = {
  ...eventKindsOf<(typeof resources)[number]>(resources),
  'subscription.activated': subscriptionActivated,
  'subscription.changed': subscriptionChanged,
  'subscription.ended': subscriptionEnded,
  'endpoint.test': endpointTest,
}
