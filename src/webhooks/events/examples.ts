import { examplePayload, exampleRow } from '#src/resources/kit/derived.ts'
import { resources } from '#src/resources/running-app.ts'
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
  const subscription = { userId, currentPeriodEnd: '2027-01-31T12:00:00.000Z' }
  const further: Readonly<Partial<Record<EventType, object>>> = {
    'subscription.activated': { userId, plan: 'pro' },
    'subscription.changed': {
      ...subscription,
      plan: 'pro',
      status: 'active',
      cancelsAt: subscription.currentPeriodEnd,
    },
    'subscription.ended': { ...subscription, plan: null, status: 'canceled', cancelsAt: null },
    'endpoint.test': { endpointId },
  }
  const resource = resources.find(({ name }) => type.startsWith(`${name}.`))
  const payload = resource?.payloads[type.slice(type.indexOf('.') + 1)]
  if (payload !== undefined) return examplePayload(payload)
  return further[type] ?? exampleRow(Object(resource), { id, userId, tenantId }, now)
}
