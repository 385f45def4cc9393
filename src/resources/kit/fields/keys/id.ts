import { OwnId } from '#src/http/fields.ts'
import { field } from '../field.ts'

/** The key of a row. */
export const id = () => field('bigint', OwnId)
