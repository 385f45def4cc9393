import Type from 'typebox'
import { Time } from './schemas.ts'

/** A filter by creation time. */
export const CreatedRange = {
  from: Type.Optional(Type.String({ ...Time, description: 'Created at this time or later' })),
  to: Type.Optional(Type.String({ ...Time, description: 'Created before this time' })),
}

/** A filter by a 64-bit id. */
export const IdFilter = (description: string) =>
  Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,15}$', description }))

/** The order of a list that is newest first. */
export const SortBy = (field: string) =>
  Type.Optional(
    Type.Enum([`-${field}`, field], {
      description: `\`-${field}\`: newest first, the default; \`${field}\`: oldest first`,
    }),
  )
