import Type from 'typebox'
import { OptionalText, Text } from '#src/http/schemas.ts'
import { field } from '../field.ts'
import { lengthFault } from './line.ts'

/** Text of any number of lines. */
export const text = (maxLength: number, description?: string) =>
  field('text', Type.String(), {
    description,
    usual: `Text of any number of lines, at most ${maxLength.toLocaleString('en')} characters`,
    written: Text(maxLength),
    control: {
      as: 'area',
      schema: (mayBeEmpty) => (mayBeEmpty ? OptionalText : Text)(maxLength),
      attributes: { rows: 10 },
      read: (entered) => entered,
      text: String,
    },
    neutral: 'erased',
    ...lengthFault(maxLength),
  })
