import Type from 'typebox'
import { type EventType, eventKind } from '#src/webhooks/events/types.ts'

/** An event with any data, for tests of what becomes of it. */
export function anyEvent(type: EventType, data: unknown) {
  return { kind: eventKind(type, 'An event of a test', Type.Unknown()), data }
}
