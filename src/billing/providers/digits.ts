const withoutDigits = new Set(
  'BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' '),
)
const withThreeDigits = new Set('BHD JOD KWD OMR TND'.split(' '))

/**
 * The digits after the decimal point that amounts of Stripe have, also at providers that charge through Stripe. They
 * differ from ISO 4217: ISK and UGX have two, which are always 00, and MGA has none. HUF and TWD have two; only
 * payouts are whole, and no payout is processed here.
 */
export function stripeDigits(currency: string): number {
  const code = currency.toUpperCase()
  if (withoutDigits.has(code)) return 0
  return withThreeDigits.has(code) ? 3 : 2
}
