import type { TSchema } from 'typebox'
import { eventTypesOf } from '#src/resources/kit/derived.ts'
import { distinctFromOwn } from '#src/resources/kit/distinct.ts'
import { resources } from '#src/resources/running-app.ts'

/** Types of events that are sent (contract 7). */
export const eventTypes = distinctFromOwn(
  [
    ...eventTypesOf(resources),
    'subscription.activated',
    'subscription.changed',
    'subscription.ended',
    'endpoint.test',
  ] as const,
  (type) => type,
  (type) => `The app declares the event ${type} of Gatehouse.`,
)

export type EventType = (typeof eventTypes)[number]

/** Whether it is a type of the program itself, and not of the app. */
export function isOwnType(name: string): name is EventType {
  return eventTypes.some((type) => type === name)
}

/** One kind of event. Its schema types what is published, and is part of the API description. */
export type EventKind<Type extends EventType = EventType, Data extends TSchema = TSchema> = {
  type: Type
  /** What has happened, for the API description. */
  summary: string
  /** Schema of `data`: the changed object as the API returns it. */
  data: Data
}

export function eventKind<const Type extends EventType, Data extends TSchema>(
  type: Type,
  summary: string,
  data: Data,
): EventKind<Type, Data> {
  return { type, summary, data }
}
