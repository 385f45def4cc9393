/** Types of events that are sent (contract 7). */
export const eventTypes = [
  'order.updated',
  'post.updated',
  'post.deleted',
  'invoice.created',
  'subscription.activated',
  'endpoint.test',
] as const

export type EventType = (typeof eventTypes)[number]
