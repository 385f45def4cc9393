import { digitsOf } from './currencies.ts'

/**
 * An amount in minor units as text: `49.00 EUR`, `4,900 JPY`.
 * @param digits after the decimal point, where they are not those of ISO 4217: billing providers have rules of their own
 */
export function amountText(amount: number, currency: string, digits = digitsOf(currency)): string {
  const format = new Intl.NumberFormat('en-GB', { minimumFractionDigits: digits })
  // As text, because 2^53 cents are no exact number of euros.
  const number = plainAmount(amount, currency, digits) as Intl.StringNumericLiteral
  return `${format.format(number)} ${currency.toUpperCase()}`
}

/** An amount in minor units as digits alone: `4900.00`. */
export function plainAmount(amount: number, currency: string, digits = digitsOf(currency)): string {
  const all = String(Math.abs(amount)).padStart(digits + 1, '0')
  const sign = amount < 0 ? '-' : ''
  const [whole, fraction] = [all.slice(0, all.length - digits), all.slice(all.length - digits)]
  return `${sign}${whole}${digits === 0 ? '' : `.${fraction}`}`
}
