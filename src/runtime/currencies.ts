/** The active codes of ISO 4217, without funds, metals and test codes. */
const codes =
  'AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG'

/** What such a code matches. */
export const currencyPattern = `^(${codes.replaceAll(' ', '|')})$`

const withoutDigits = new Set(
  'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'.split(' '),
)
const withThreeDigits = new Set('BHD IQD JOD KWD LYD OMR TND'.split(' '))

/**
 * The digits of the minor unit of a currency in ISO 4217. They are written here because the runtime's are those of
 * its locale data, which round prices of some currencies.
 */
export function digitsOf(currency: string): number {
  const code = currency.toUpperCase()
  if (withoutDigits.has(code)) return 0
  return withThreeDigits.has(code) ? 3 : 2
}
