import Type from 'typebox'
import { currencyPattern } from '#src/runtime/currencies.ts'
import { field } from '../field.ts'

/**
 * A currency by its code of ISO 4217.
 * @param initial of a new row, if neither its body nor the setting CURRENCY names one
 */
export const currency = (initial: string) =>
  field('text', Type.String({ description: 'ISO 4217, such as `EUR`' }), {
    written: Type.String({
      pattern: currencyPattern,
      examples: ['EUR'],
      description: 'ISO 4217, such as `EUR`; that of the setting `CURRENCY` by default',
    }),
    initial: () => initial,
    isCurrency: true,
  })
