import Type from 'typebox'
import { eventStatuses } from './events.ts'

export const Status = Type.Enum([...eventStatuses])

/** A provider's event id in a path (contract 5): 1 to 255 printable characters. */
export const EventParams = Type.Object(
  { id: Type.String({ minLength: 1, maxLength: 255, pattern: '^[^\\p{C}\\p{Zl}\\p{Zp}]+$' }) },
  { additionalProperties: false },
)
