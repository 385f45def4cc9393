import Type from 'typebox'
import { inWords } from '#src/runtime/words.ts'
import { field } from '../field.ts'

/** One of several words. */
export const choice = <const Word extends string>(...values: readonly Word[]) => {
  const isChoice = values.length > 0 && new Set(values).size === values.length
  return field('text', Type.Enum([...values]), {
    written: Type.Enum([...values]),
    usual: `One of ${values.map((value) => `\`${value}\``).join(', ')}`,
    filter: Type.Enum([...values]),
    oneOf: values.map(RegExp.escape).join('|'),
    control: {
      as: 'choice',
      schema: (mayBeEmpty) => Type.Enum([...(mayBeEmpty ? [''] : []), ...values]),
      options: Object.fromEntries(values.map((value) => [value, inWords(value)])),
      read: (text) => text,
      text: String,
    },
    onPage: (value) => ({ words: inWords(String(value)) }),
    neutral: values[0],
    ...(!isChoice && { fault: 'with a choice of no words or of equal ones' }),
  })
}
