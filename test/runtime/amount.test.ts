import t from 'tap'
import { amountText, plainAmount } from '#src/runtime/amount.ts'
import { digitsOf } from '#src/runtime/currencies.ts'

t.test('amounts have the digits of their currency', async (t) => {
  t.equal(amountText(4_900, 'eur'), '49.00 EUR')
  t.equal(amountText(1_234_567, 'usd'), '12,345.67 USD')
  t.equal(amountText(-5, 'usd'), '-0.05 USD')
  t.equal(amountText(4_900, 'jpy'), '4,900 JPY')
  t.equal(amountText(490_000, 'huf'), '4,900.00 HUF')
  t.equal(amountText(4_900, 'kwd'), '4.900 KWD')
  t.equal(amountText(490_000, 'isk', 2), '4,900.00 ISK', 'as the provider counts')
  t.equal(amountText(Number.MAX_SAFE_INTEGER, 'eur'), '90,071,992,547,409.91 EUR')
  t.equal(plainAmount(7, 'eur'), '0.07')
})

t.test('the digits are those of ISO 4217, not those of the locale data', async (t) => {
  for (const code of [
    'AFN',
    'ALL',
    'COP',
    'HUF',
    'IDR',
    'IRR',
    'KPW',
    'LAK',
    'LBP',
    'MGA',
    'MMK',
  ]) {
    t.equal(digitsOf(code), 2, code)
  }
  for (const code of ['BIF', 'CLP', 'ISK', 'JPY', 'KRW', 'UGX', 'VND', 'XOF']) {
    t.equal(digitsOf(code), 0, code)
  }
  for (const code of ['BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND'])
    t.equal(digitsOf(code), 3, code)
})
