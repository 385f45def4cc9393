import Type from 'typebox'
import { Time } from '#src/http/schemas.ts'

/** A filter by creation time. */
export const CreatedRange = {
  from: Type.Optional(Type.String({ ...Time, description: 'Created at this time or later' })),
  to: Type.Optional(Type.String({ ...Time, description: 'Created before this time' })),
}

/** Pattern of a 64-bit id in a query. */
export const idFilterPattern = '^[1-9][0-9]{0,15}$'

/** A filter by a 64-bit id. */
export const IdFilter = (description: string) =>
  Type.String({ pattern: idFilterPattern, description })

/** The order of a list that is newest first. */
export const SortBy = (field: string) =>
  Type.Optional(
    Type.Enum([`-${field}`, field], {
      description: `\`-${field}\`: newest first, the default; \`${field}\`: oldest first`,
    }),
  )
