import { IdFilter } from '#src/http/lists/query.ts'
import { readId } from '#src/http/params.ts'
import { Id, IdParams } from '#src/http/schemas.ts'
import { field } from '../field.ts'

/** The folder of a row with the scope `chain`: its team reaches the row. */
export const folder = () =>
  field('bigint', Id, {
    written: Id,
    usual: 'The folder that it is in, whose team reaches it',
    filter: IdFilter('In this folder, not in the folders within it'),
    control: {
      as: 'choice',
      offers: 'folders',
      schema: () => IdParams.properties.id,
      read: readId,
      text: String,
    },
  })
