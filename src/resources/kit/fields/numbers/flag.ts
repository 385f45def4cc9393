import Type from 'typebox'
import { field } from '../field.ts'

/** True or false. */
export const flag = (description?: string) =>
  field('boolean', Type.Boolean(), {
    description,
    usual: 'True or false',
    written: Type.Boolean(),
    filter: Type.Enum(['true', 'false']),
    control: {
      as: 'choice',
      schema: (mayBeEmpty) => Type.Enum([...(mayBeEmpty ? [''] : []), 'yes', 'no']),
      options: { yes: 'Yes', no: 'No' },
      read: (text) => text === 'yes',
      text: (value) => (value === true ? 'yes' : 'no'),
    },
    onPage: (value) => ({ words: value === true ? 'Yes' : 'No' }),
    neutral: false,
  })
