import t from 'tap'
import { amountText } from '#src/runtime/amount.ts'

t.test('amounts have the digits of their currency', async (t) => {
  t.equal(amountText(4_900, 'eur'), '49.00 EUR')
  t.equal(amountText(1_234_567, 'usd'), '12,345.67 USD')
  t.equal(amountText(4_900, 'jpy'), '4,900 JPY')
  t.equal(amountText(4_900, 'not a currency'), '4900 NOT A CURRENCY')
})
