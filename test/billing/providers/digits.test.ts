import type { CurrencyCode } from '@paddle/paddle-node-sdk'
import t from 'tap'
import { paddle } from '#src/billing/providers/paddle.ts'
import type { BillingProvider } from '#src/billing/providers/provider.ts'
import { signed } from '#src/billing/providers/signed.ts'
import { standard } from '#src/billing/providers/standard.ts'
import { stripe } from '#src/billing/providers/stripe.ts'
import {
  paddleEvent,
  paddleTransaction,
  standardEvent,
  stripeCharge,
  stripeEvent,
} from './bodies.ts'

// The presentment currencies of Stripe, and those of them that do not have two digits.
const stripeCurrencies =
  'USD AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BWP BYN BZD CAD CDF CHF CLP CNY COP CRC CVE CZK DJF DKK DOP DZD EGP ETB EUR FJD FKP GBP GEL GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR ISK JMD JOD JPY KES KGS KHR KMF KRW KWD KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SEK SGD SHP SLE SOS SRD STD SZL THB TJS TND TOP TRY TTD TWD TZS UAH UGX UYU UZS VND VUV WST XAF XCD XOF XPF YER ZAR ZMW'.split(
    ' ',
  )
const stripeOthers = new Map([
  ...'BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'
    .split(' ')
    .map((code) => [code, 0] as const),
  ...'BHD JOD KWD OMR TND'.split(' ').map((code) => [code, 3] as const),
])

function digitsIn(provider: BillingProvider, body: string): number {
  const event = provider.parse({ 'webhook-id': 'msg_1' }, Buffer.from(body))
  if (event === null) throw new Error('no event')
  const effect = provider.effectOf(event, event.object)
  if (effect.kind !== 'payment') throw new Error('no payment')
  return effect.digits
}

t.test(
  'every currency of Stripe has the digits of Stripe, and through Polar the same',
  async (t) => {
    const provider = stripe({ production: true, baseUrl: 'https://app.example.com' })
    for (const code of stripeCurrencies) {
      const digits = stripeOthers.get(code) ?? 2
      const currency = code.toLowerCase()
      const charge = stripeEvent('evt_1', 'charge.succeeded', stripeCharge({ currency }))
      t.equal(digitsIn(provider, charge), digits, code)
      const order = { id: 'ord_1', customer_id: 'cus_1', currency, total_amount: 500 }
      t.equal(digitsIn(standard, standardEvent('order.paid', order)), digits, code)
    }
  },
)

const paddleDigits: Record<CurrencyCode, number> = {
  ARS: 2,
  AUD: 2,
  BRL: 2,
  CAD: 2,
  CHF: 2,
  CLP: 0,
  CNY: 2,
  COP: 2,
  CZK: 2,
  DKK: 2,
  EUR: 2,
  GBP: 2,
  HKD: 2,
  HUF: 2,
  ILS: 2,
  INR: 2,
  JPY: 0,
  KRW: 0,
  MXN: 2,
  NOK: 2,
  NZD: 2,
  PEN: 2,
  PLN: 2,
  RUB: 2,
  SEK: 2,
  SGD: 2,
  THB: 2,
  TRY: 2,
  TWD: 2,
  UAH: 2,
  USD: 2,
  VND: 0,
  ZAR: 2,
}

t.test('every currency of Paddle has the digits of ISO 4217', async (t) => {
  for (const [code, digits] of Object.entries(paddleDigits)) {
    const transaction = paddleTransaction({ currency_code: code })
    t.equal(
      digitsIn(paddle, paddleEvent('evt_1', 'transaction.completed', transaction)),
      digits,
      code,
    )
  }
})

t.test('the format of the specification has the digits of ISO 4217', async (t) => {
  for (const [currency, digits] of [
    ['isk', 0],
    ['ugx', 0],
    ['huf', 2],
    ['mga', 2],
    ['kwd', 3],
  ] as const) {
    const object = { id: 'ch_1', customer: 'cus_1', amount: 1, currency }
    const body = JSON.stringify({
      id: 'evt_1',
      type: 'charge.succeeded',
      created: 1,
      data: { object },
    })
    t.equal(digitsIn(signed, body), digits, currency)
  }
})
