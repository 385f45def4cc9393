import Type from 'typebox'
import { amountText, plainAmount } from '#src/runtime/amount.ts'
import { currencyPattern, digitsOf } from '#src/runtime/currencies.ts'
import { field } from '../field.ts'

const Amount = Type.Integer({ description: 'Minor units of the currency', examples: [4_900] })
const Currency = Type.String({ description: 'ISO 4217', examples: ['EUR'] })

/**
 * An amount with its currency. Amounts of several currencies have no order, so lists are neither filtered nor
 * sorted by it.
 */
export const money = (description?: string) =>
  field(
    'jsonb',
    Type.Object(
      { amount: Amount, currency: Currency },
      { title: 'Money', description: 'An amount with its currency' },
    ),
    {
      description,
      written: Type.Object(
        {
          amount: Type.Integer({ ...Amount, minimum: -greatest, maximum: greatest }),
          currency: Type.String({ ...Currency, pattern: currencyPattern }),
        },
        { title: 'NewMoney', additionalProperties: false },
      ),
      control: {
        as: 'line',
        schema: (mayBeEmpty) =>
          Type.String({ maxLength: 24, pattern: mayBeEmpty ? `^(${entered})?$` : `^${entered}$` }),
        rule: 'An amount and the code of its currency, such as 49.00 EUR',
        read: readMoney,
        text(value) {
          const { amount, currency } = Object(value)
          return `${plainAmount(amount, currency)} ${currency}`
        },
      },
      onPage(value) {
        const { amount, currency } = Object(value)
        return { words: amountText(amount, currency) }
      },
      // ISO 4217 has XXX for no currency.
      neutral: { amount: 0, currency: 'XXX' },
    },
  )

const greatest = Number.MAX_SAFE_INTEGER
const entered = '-?[0-9]{1,13}(\\.[0-9]{1,4})? [A-Z]{3}'
const isCurrency = new RegExp(currencyPattern)

/** @returns undefined for a code that is no currency, and for more digits than the currency has */
function readMoney(text: string) {
  const [number = '', currency = ''] = text.split(' ')
  const [whole = '', fraction = ''] = number.split('.')
  if (!isCurrency.test(currency)) return undefined
  const digits = digitsOf(currency)
  const amount = Number(`${whole}${fraction.padEnd(digits, '0')}`)
  const isExact = fraction.length <= digits && Number.isSafeInteger(amount)
  // A zero has no sign in JSON.
  return isExact ? { amount: amount === 0 ? 0 : amount, currency } : undefined
}
