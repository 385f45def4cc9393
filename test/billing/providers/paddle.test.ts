import { Paddle } from '@paddle/paddle-node-sdk'
import t from 'tap'
import { PoisonEvent } from '#src/billing/effect.ts'
import { paddle } from '#src/billing/providers/paddle.ts'
import { hmacSha256 } from '#src/crypto/hash.ts'
import { paddleAdjustment, paddleEvent, paddleSubscription, paddleTransaction } from './bodies.ts'

const secret = 'pdl_ntfset_01_secret'
const now = Math.floor(Date.now() / 1_000)
const text = paddleEvent('evt_1', 'subscription.updated', paddleSubscription())
const bytes = Buffer.from(text)
const digest = hmacSha256(secret, `${now}:${text}`).toString('hex')
const header = `ts=${now};h1=${digest}`
const verify = (value: string, secrets = [secret], at = now) =>
  paddle.verify({ 'paddle-signature': value }, bytes, secrets, at)

t.test('what the official package accepts is verified, and it parses the same event', async (t) => {
  const official = await new Paddle('key').webhooks.unmarshal(text, secret, header)
  t.strictSame(verify(header), { ok: true, timestamp: now, secretIndex: 0 })
  t.match(paddle.parse({}, bytes), {
    id: official?.eventId,
    type: official?.eventType,
    objectId: official?.data.id,
    kind: 'subscription',
    created: Date.parse('2026-11-18T10:26:40.123Z') / 1_000,
  })
})

t.test('one of several signatures and secrets is enough; anything else is refused', async (t) => {
  const wrong = '0'.repeat(64)
  t.match(verify(`ts=${now};h1=${wrong};h1=${digest}`), { ok: true })
  t.match(verify(header, ['pdl_ntfset_new_secret', secret]), { secretIndex: 1 })
  const bad = { ok: false, fault: 'bad signature' }
  for (const value of [
    '',
    `ts=${now}`,
    `h1=${digest}`,
    `ts=${now},h1=${digest}`,
    `t=${now};v1=${digest}`,
    `ts=${now};ts=${now};h1=${digest}`,
    `${header}, ${header}`,
    `ts=${now};h1=${wrong}`,
  ]) {
    t.strictSame(verify(value), bad, value)
  }
  t.strictSame(paddle.verify({ 'stripe-signature': header }, bytes, [secret], now), bad)
  t.match(verify(header, [secret], now + 301), { fault: 'timestamp outside tolerance' })
})

function effect(type: string, data: Record<string, unknown>) {
  const event = paddle.parse({}, Buffer.from(paddleEvent('evt_1', type, data)))
  if (event === null) throw new Error('no event')
  return paddle.effectOf(event, event.object)
}

t.test('each kind has its effect', async (t) => {
  t.strictSame(effect('transaction.completed', paddleTransaction()), {
    kind: 'payment',
    customer: 'ctm_1',
    payment: 'txn_1',
    amount: 4_900,
    currency: 'eur',
    digits: 2,
    refunded: null,
  })
  const refund = {
    kind: 'refund',
    customer: 'ctm_1',
    payment: 'txn_1',
    refund: 'adj_1',
    amount: 1_000,
    isFailed: false,
    remaining: null,
  }
  t.strictSame(effect('adjustment.updated', paddleAdjustment()), refund)
  const reversed = effect('adjustment.updated', paddleAdjustment({ status: 'reversed' }))
  t.strictSame(reversed, { ...refund, amount: 0 })
  for (const change of [
    { status: 'pending_approval' },
    { status: 'rejected' },
    { action: 'credit' },
    { action: 'credit_reverse' },
    { action: 'chargeback_warning' },
    { action: 'chargeback_warning_reverse' },
  ]) {
    t.strictSame(effect('adjustment.created', paddleAdjustment(change)), { kind: 'none' })
  }
  t.match(effect('adjustment.created', paddleAdjustment({ action: 'chargeback' })), {
    kind: 'dispute',
    payment: 'txn_1',
    state: 'open',
  })
  for (const [type, change] of [
    ['adjustment.created', { action: 'chargeback_reverse' }],
    ['adjustment.updated', { action: 'chargeback', status: 'reversed' }],
  ] as const) {
    t.match(effect(type, paddleAdjustment(change)), { kind: 'dispute', state: 'closed' })
  }
  const periodEnd = Date.parse('2026-12-18T10:26:40Z') / 1_000
  const state = { status: 'active', prices: ['pri_pro'], periodEnd, cancelsAt: null }
  t.match(effect('subscription.created', paddleSubscription()), {
    kind: 'subscription',
    customer: 'ctm_1',
    state,
  })
  const scheduled = { action: 'cancel', effective_at: '2026-12-18T10:26:40Z', resume_at: null }
  t.match(effect('subscription.updated', paddleSubscription({ scheduled_change: scheduled })), {
    state: { cancelsAt: periodEnd },
  })
  const paused = { ...scheduled, action: 'pause' }
  t.match(effect('subscription.updated', paddleSubscription({ scheduled_change: paused })), {
    state: { cancelsAt: null },
  })
})

t.test('a guest and another kind are ignored; a total that is no number is poison', async (t) => {
  const parse = (type: string, data: Record<string, unknown>) =>
    paddle.parse({}, Buffer.from(paddleEvent('evt_1', type, data)))
  const guest = paddleTransaction({ customer_id: null })
  t.match(parse('transaction.completed', guest), { ignored: 'guest' })
  t.match(parse('transaction.billed', paddleTransaction()), { ignored: 'kind' })
  t.equal(paddle.parse({}, Buffer.from('{"id":"evt_1","type":"x"}')), null)
  for (const grand_total of ['49.00', '-1', '99999999999999999', 4_900, undefined]) {
    const data = paddleTransaction({ details: { totals: { grand_total } } })
    t.throws(() => effect('transaction.completed', data), PoisonEvent, String(grand_total))
  }
})

t.test(
  'a transaction is what was paid: without the balance, and nothing if that is nothing',
  async (t) => {
    const paid = (grand_total: string) => {
      const totals = { subtotal: '4118', tax: '782', total: '4900', balance: '0', grand_total }
      const body = paddleEvent(
        'evt_1',
        'transaction.completed',
        paddleTransaction({ details: { totals } }),
      )
      const event = paddle.parse({}, Buffer.from(body))
      if (event === null) throw new Error('no event')
      return paddle.effectOf(event, event.object)
    }
    t.match(paid('1900'), { kind: 'payment', amount: 1_900 })
    t.strictSame(paid('0'), { kind: 'none' })
  },
)
