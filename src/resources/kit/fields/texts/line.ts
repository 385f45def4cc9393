import Type from 'typebox'
import { Line, OptionalLine } from '#src/http/schemas.ts'
import { field } from '../field.ts'

/** One line of text. */
export const line = (maxLength: number, description?: string) =>
  field('text', Type.String(), {
    description,
    usual: `One line of at most ${maxLength.toLocaleString('en')} characters`,
    written: Line(maxLength),
    filter: Line(maxLength),
    control: {
      as: 'line',
      schema: (mayBeEmpty) => (mayBeEmpty ? OptionalLine : Line)(maxLength),
      read: (text) => text,
      text: String,
    },
    isLong: true,
    neutral: 'erased',
    ...lengthFault(maxLength),
  })

export function lengthFault(maxLength: number): { fault?: string } {
  const isLength = Number.isInteger(maxLength) && maxLength > 0
  return isLength ? {} : { fault: `with at most ${maxLength} characters` }
}
