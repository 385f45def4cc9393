import fc from 'fast-check'
import t from 'tap'
import { createUser } from '#dev/testing/people.ts'
import { applyEvent } from '#src/billing/process.ts'
import { stripe } from '#src/billing/providers/stripe.ts'
import { createDatabase } from '#test/support/database/database.ts'
import { chosenSeed } from '#test/support/models/seeded.ts'
import {
  stripeCharge,
  stripeDispute,
  stripeEvent,
  stripeRefund,
  stripeSubscription,
} from './providers/bodies.ts'
import { openAsWorker, receive } from './received.ts'

const now = new Date('2026-11-21T12:00:00Z')
const provider = stripe({ production: true, baseUrl: 'https://app.example.com' })
const giving = ['active', 'trialing', 'past_due']
const statuses = [...giving, 'unpaid', 'paused', 'canceled', 'incomplete', 'incomplete_expired']
const ended = ['canceled', 'incomplete_expired']
const numRuns = Number(process.env.HISTORY_RUNS ?? 25)

/** How the events of a history arrive: their order, some twice, some never. */
const arrivals = (events: number) =>
  fc.tuple(
    fc.shuffledSubarray(
      Array.from({ length: events }, (_, n) => n),
      { minLength: 0 },
    ),
    fc.array(fc.nat(events - 1), { maxLength: 3 }),
  )
const history = fc
  .array(fc.constantFrom(...statuses), { minLength: 1, maxLength: 6 })
  .chain((states) => fc.tuple(fc.constant(states), arrivals(states.length), fc.boolean()))

/** The newest event arrives first, then the end, which is older, and then the newest is processed again. */
const replayAfterEnd: [[string[], [number[], number[]], boolean]] = [
  [['canceled', 'active'], [[1, 0], [1]], false],
]

t.test(
  'any arrival of a subscription’s events ends in its newest known state, or in its end',
  async (t) => {
    const database = await createDatabase(t)
    const { db } = openAsWorker(t, database)
    let run = 0
    await fc.assert(
      fc.asyncProperty(history, async ([states, [order, again], hasApi]) => {
        run += 1
        const [customer, id] = [`cus_${run}`, `sub_${run}`]
        const { userId } = await createUser(database, { billingCustomer: customer })
        const present = stripeSubscription({ id, customer, status: states.at(-1) })
        const api = hasApi ? { findSubscription: async () => present } : null
        const arrived = [...order, ...again.filter((index) => order.includes(index))]
        for (const [position, index] of arrived.entries()) {
          const eventId = `evt_${run}_${index}`
          const object = stripeSubscription({ id, customer, status: states[index] })
          const type = 'customer.subscription.updated'
          const body = Buffer.from(stripeEvent(eventId, type, object, { created: 1_000 + index }))
          if (position < order.length) await receive(database, { id: eventId, body })
          const again = position >= order.length
          await applyEvent(db, eventId, now, { provider, api, again })
        }
        const { rows } = await database.admin.query(
          'SELECT plan, subscription_status AS status FROM users WHERE id = $1',
          [userId],
        )
        const last = hasApi ? states.length - 1 : Math.max(...order)
        const status = order.length === 0 ? null : (states[last] ?? null)
        const hasEnded = !hasApi && order.some((index) => ended.includes(states[index] ?? ''))
        const isGiving = status !== null && giving.includes(status) && !hasEnded
        const [row] = rows
        const drawn = JSON.stringify([row.status, states, order, again, hasApi])
        t.equal(row.plan, isGiving ? 'pro' : null, drawn)
        t.ok(hasEnded ? ended.includes(row.status) : row.status === status, drawn)
      }),
      { numRuns, seed: chosenSeed(), examples: [replayAfterEnd] },
    )
  },
)

t.test(
  'any arrival of a payment’s events ends in one invoice with all that is known',
  async (t) => {
    const database = await createDatabase(t)
    const { db } = openAsWorker(t, database)
    let run = 0
    await fc.assert(
      fc.asyncProperty(arrivals(7), async ([order, again]) => {
        run += 1
        const customer = `cus_${run}`
        const ids = { id: `ch_${run}`, payment_intent: `pi_${run}`, customer }
        const refund = { id: `re_${run}`, payment_intent: `pi_${run}` }
        const dispute = { id: `dp_${run}`, payment_intent: `pi_${run}` }
        const { tenantId } = await createUser(database, { billingCustomer: customer })
        const events = [
          ['charge.succeeded', stripeCharge(ids)],
          ['charge.refunded', stripeCharge({ ...ids, amount_refunded: 900 })],
          ['charge.refunded', stripeCharge({ ...ids, amount_refunded: 4_900 })],
          ['charge.dispute.created', stripeDispute(dispute)],
          ['charge.dispute.closed', stripeDispute({ ...dispute, status: 'won' })],
          ['refund.failed', stripeRefund({ ...refund, amount: 4_000, status: 'failed' })],
          ['charge.refunded', stripeCharge({ ...ids, amount_refunded: 1_500 })],
        ] as const
        const arrived = [...order, ...again.filter((index) => order.includes(index))]
        for (const [position, index] of arrived.entries()) {
          const [type, object] = events[index] ?? events[0]
          const eventId = `evt_${run}_${index}`
          const body = Buffer.from(stripeEvent(eventId, type, object, { created: 1_000 + index }))
          if (position < order.length) await receive(database, { id: eventId, body })
          await applyEvent(db, eventId, now, { provider, again: position >= order.length })
        }
        const { rows } = await database.admin.query(
          'SELECT amount_refunded::int AS refunded, status FROM invoices WHERE tenant_id = $1',
          [tenantId],
        )
        const has = (index: number) => order.includes(index)
        const said = has(2) ? 4_900 : has(1) ? 900 : 0
        const refunded = has(6) ? 1_500 : Math.max(0, said - (has(5) ? 4_000 : 0))
        const isWhole = refunded === 4_900
        const status = has(3) && !has(4) ? 'disputed' : isWhole ? 'refunded' : 'paid'
        const isKnown = [0, 1, 2, 6].some(has)
        t.strictSame(rows, isKnown ? [{ refunded, status }] : [], JSON.stringify([order, again]))
      }),
      { numRuns, seed: chosenSeed() },
    )
  },
)
