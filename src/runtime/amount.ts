/** An amount in minor units as text: `49.00 EUR`, `4,900 JPY`. */
export function amountText(amount: number, currency: string): string {
  const code = currency.toUpperCase()
  const format = formatOf(code)
  if (format === null) return `${amount} ${code}` // A code that is no currency.
  const parts = format.formatToParts(amount / 10 ** digitsIn(format))
  const number = parts.filter(({ type }) => type !== 'currency' && type !== 'literal')
  return `${number.map(({ value }) => value).join('')} ${code}`
}

/** The digits of the minor unit of a currency, which is a code of ISO 4217. */
export function digitsOf(currency: string): number {
  const format = formatOf(currency)
  return format === null ? 0 : digitsIn(format)
}

/** An amount in minor units as digits alone: `4900.00`. */
export function plainAmount(amount: number, currency: string): string {
  const digits = digitsOf(currency)
  const all = String(Math.abs(amount)).padStart(digits + 1, '0')
  const sign = amount < 0 ? '-' : ''
  const [whole, fraction] = [all.slice(0, all.length - digits), all.slice(all.length - digits)]
  return `${sign}${whole}${digits === 0 ? '' : `.${fraction}`}`
}

function formatOf(currency: string): Intl.NumberFormat | null {
  try {
    const style = { style: 'currency', currencyDisplay: 'code' } as const
    return new Intl.NumberFormat('en-GB', { ...style, currency })
  } catch {
    return null
  }
}

function digitsIn(format: Intl.NumberFormat): number {
  return format.resolvedOptions().maximumFractionDigits ?? 2
}
