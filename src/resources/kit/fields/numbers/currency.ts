import Type from 'typebox'
import { currencyPattern } from '#src/runtime/currencies.ts'
import { orEmpty } from '../control.ts'
import { field } from '../field.ts'

const Code = Type.String({ pattern: currencyPattern, examples: ['EUR'] })

/**
 * A currency by its code of ISO 4217.
 * @param initial of a new row, if neither its body nor the setting CURRENCY names one
 */
export const currency = (initial: string) =>
  field('text', Type.String(), {
    usual: 'ISO 4217, such as `EUR`',
    written: Type.String({
      ...Code,
      description: 'ISO 4217, such as `EUR`; that of the setting `CURRENCY` by default',
    }),
    filter: Code,
    control: {
      as: 'line',
      schema: (mayBeEmpty) => orEmpty(Code, mayBeEmpty),
      rule: 'The code of a currency, such as EUR',
      attributes: { maxlength: 3 },
      read: (text) => text,
      text: String,
    },
    initial: () => initial,
    isCurrency: true,
  })
