import Type from 'typebox'
import { IdFilter } from '#src/http/lists/query.ts'
import { Id, Uuid } from '#src/http/schemas.ts'
import { field, optional } from '../field.ts'

/** The owner of a row with the scope `owner`. */
export const owner = () =>
  field('bigint', Id, { ...ofPerson, usual: 'The person who owns it, by id' })

/** The member who created the row. */
export const author = (
  description = 'The member who created it, by id; null after they have left',
) =>
  optional(
    field('bigint', Id, {
      ...ofPerson,
      usual: description,
      filter: IdFilter('Written by this user'),
      initial: ({ userId }) => userId,
    }),
  )

/** The service token that created the row. The database fills it in. */
export const authorService = () => ({
  ...field(
    'uuid',
    Type.Optional(
      Type.String({
        ...Uuid,
        description: 'The service token that created it; missing if it was a person',
      }),
    ),
    { isOmitted: true, isService: true },
  ),
  isNullable: true as const,
})

const ofPerson = {
  isPerson: true,
  example: ({ userId }: { readonly userId: number }) => userId,
} as const
