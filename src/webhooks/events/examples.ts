import type { EventType } from './types.ts'

/** The ids that occur in examples: those of the person who asks, and of the endpoint. */
export type ExampleIds = { userId: number; tenantId: string; endpointId: string }

const id = Number.MAX_SAFE_INTEGER // of no object: a receiver that reads it gets 404

/** Example data of an event, with the members of a real one. Its object does not exist. */
export function exampleData(
  type: EventType,
  { userId, tenantId, endpointId }: ExampleIds,
  now: Date,
): object {
  const createdAt = now.toISOString()
  const times = { createdAt, updatedAt: createdAt }
  const post = {
    id,
    tenantId,
    authorId: userId,
    department: 'engineering',
    title: 'Opening hours',
    body: 'The gate opens at nine.',
    ...times,
  }
  const examples: Readonly<Record<EventType, object>> = {
    'order.updated': {
      id,
      userId,
      lineItems: [{ sku: 'GATE-OAK-200', quantity: 1, unitPrice: 45_900 }],
      shippingAddress: {
        name: 'Ada Okafor',
        line1: '1 Harbour Street',
        city: 'Lisbon',
        postalCode: '1100-012',
        country: 'PT',
      },
      cardLast4: '4242',
      ...times,
    },
    'post.updated': post,
    'post.deleted': post,
    'invoice.created': { id, tenantId, amount: 4_900, currency: 'eur', status: 'paid', createdAt },
    'subscription.activated': { userId, plan: 'pro' },
    'endpoint.test': { endpointId },
  }
  return examples[type]
}
