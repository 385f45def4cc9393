import Type from 'typebox'
import { Uuid } from '#src/http/schemas.ts'
import { described, field } from '../field.ts'

/** The tenant of a row. */
export const tenant = (description?: string) =>
  field('uuid', Uuid, { filter: Type.String({ ...Uuid, ...described(description) }) })
