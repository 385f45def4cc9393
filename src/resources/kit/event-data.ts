import type { Static, TObject } from 'typebox'

/** The schemas of events whose data is not the row, by the last part of their types. */
export type Payloads<Event extends string = string> = { readonly [One in Event]?: TObject }

/** What publishing needs of a resource. */
export type Publishes = {
  readonly name: string
  readonly events: Readonly<Record<string, string>>
  readonly payloads: Payloads
  readonly shape: TObject
}

/** The data of an event: what its schema in `payloads` describes, or without one the row. */
export type EventData<P extends Payloads, Event extends string, Row> = Event extends keyof P
  ? NonNullable<P[Event]> extends infer Schema extends TObject
    ? Static<Schema>
    : Row
  : Row

/** The data of an event of a resource. */
export type DataOf<One extends Publishes, Event extends string> = EventData<
  One['payloads'],
  Event,
  Static<One['shape']>
>
