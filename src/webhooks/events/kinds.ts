import { eventKindsOf } from '#src/resources/kit/derived.ts'
import { resources } from '#src/resources/running-app.ts'
import {
  endpointTest,
  subscriptionActivated,
  subscriptionChanged,
  subscriptionEnded,
} from './program-kinds.ts'
import { type EventKind, type EventType, eventTypes } from './types.ts'

const kinds = new Map<EventType, EventKind>(
  [
    ...eventKindsOf(resources),
    ...[subscriptionActivated, subscriptionChanged, subscriptionEnded, endpointTest],
  ].map((kind) => [kind.type, kind]),
)

/** What the program knows about a type of event. */
export function eventKindOf(type: EventType): EventKind {
  const kind = kinds.get(type)
  if (kind === undefined) throw new Error(`The type ${type} has no kind.`)
  return kind
}

/** Every kind of event, in the order of `eventTypes`. */
export const eventKinds: readonly EventKind[] = eventTypes.map(eventKindOf)
