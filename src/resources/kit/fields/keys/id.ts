import { Id } from '#src/http/schemas.ts'
import { field } from '../field.ts'

/** The key of a row. */
export const id = () => field('bigint', Id)
