import type { TSchema } from 'typebox'
import { field } from './field.ts'

/** A value with a schema of its own. Pages show and write no JSON. */
export const json = <Shown extends TSchema, Written extends TSchema>(
  shown: Shown,
  written: Written,
) =>
  field('jsonb', shown, {
    ...{ written, onPage: null },
    ...(!('description' in shown) && { usual: 'A value of JSON, as its schema has it' }),
  })
