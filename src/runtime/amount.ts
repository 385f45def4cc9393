/** An amount in minor units as text: `49.00 EUR`, `4,900 JPY`. */
export function amountText(amount: number, currency: string): string {
  const code = currency.toUpperCase()
  try {
    const format = new Intl.NumberFormat('en-GB', {
      style: 'currency',
      currency: code,
      currencyDisplay: 'code',
    })
    const digits = format.resolvedOptions().maximumFractionDigits ?? 2
    const parts = format.formatToParts(amount / 10 ** digits)
    const number = parts.filter(({ type }) => type !== 'currency' && type !== 'literal')
    return `${number.map(({ value }) => value).join('')} ${code}`
  } catch {
    // A code that is no currency.
    return `${amount} ${code}`
  }
}
