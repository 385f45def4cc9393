import t from 'tap'
import { createOffers } from '#src/billing/offers.ts'

const monthly = { amount: 4_900, currency: 'eur', digits: 2, interval: 'month' } as const
const terms = { ...monthly, intervalCount: 1, trialDays: null }
const plans = new Map([
  ['price_1', 'pro'],
  ['price_2', 'team'],
])

t.test(
  'prices are asked for once in ten minutes, and after a failure once in a minute',
  async (t) => {
    let time = Date.parse('2026-03-04T12:00:00Z')
    let fails = false
    const asked: string[] = []
    const logged: string[] = []
    const log = { warn: ({ price }: { price: string }) => void logged.push(price) }
    const findPrice = async (price: string) => {
      asked.push(price)
      if (fails && price === 'price_2') throw new Error('no answer')
      return terms
    }
    const offers = createOffers({ findPrice }, plans, { now: () => new Date(time) }, log)
    const both = [
      { price: 'price_1', plan: 'pro', terms },
      { price: 'price_2', plan: 'team', terms },
    ]
    t.strictSame(await offers(), both)
    t.strictSame(await offers(), both)
    t.strictSame(asked, ['price_1', 'price_2'])
    time += 600_000
    fails = true
    t.strictSame(
      await offers(),
      [both[0], { ...both[1], terms: null }],
      'the page is shown all the same',
    )
    t.equal(asked.length, 4)
    t.strictSame(logged, ['price_2'])
    time += 59_999
    await offers()
    t.equal(asked.length, 4)
    time += 1
    fails = false
    t.strictSame(await offers(), both)
    t.strictSame(asked.slice(4), ['price_2'], 'the other one is still known')
    fails = true
    for (const logs of [2, 2]) {
      time += 600_000
      t.match(await offers(), [{}, { terms: null }])
      t.equal(logged.length, logs, 'once, until it is read again')
    }
  },
)

t.test('without a provider where people pay there are none', async (t) => {
  const log = { warn: () => t.fail('nothing is asked') }
  t.strictSame(await createOffers(null, plans, { now: () => new Date(0) }, log)(), [])
  const findPrice = async () => terms
  t.strictSame(await createOffers({ findPrice }, null, { now: () => new Date(0) }, log)(), [])
})
