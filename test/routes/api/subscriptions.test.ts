import t from 'tap'
import { applyEvent } from '#src/billing/process.ts'
import { paddle } from '#src/billing/providers/paddle.ts'
import { paddleEvent, paddleSubscription } from '#test/billing/providers/bodies.ts'
import { openAsWorker, receive } from '#test/billing/received.ts'
import { addOperator, build } from '#test/support/app/app.ts'
import { signedInBy } from '#test/support/callers/account.ts'
import { owner } from '#test/support/callers/token-owner.ts'

const plans = new Map([
  ['pri_pro', 'pro'],
  ['pri_team', 'team'],
])

t.test('people read their own subscriptions, and operators all of them', async (t) => {
  const operators = new Set(['demo:an-operator'])
  const test = await build(t, {}, { operators })
  const { database } = test
  const { db } = openAsWorker(t, database)
  const apply = async (id: string, change: object, occurred_at: string) => {
    const body = paddleEvent(id, 'subscription.updated', paddleSubscription({ ...change }), {
      occurred_at,
    })
    await receive(database, { id, body: Buffer.from(body) })
    return applyEvent(db, id, new Date(), {
      ...{ provider: paddle, plans },
      metadata: ['order', 'seats', 'trusted', 'nested', 'long', 'missing', '__proto__'],
    })
  }
  const [ada, eve, operator] = [await owner(test), await owner(test), await owner(test)]
  for (const [{ user }, customer] of [
    [ada, 'ctm_ada'],
    [eve, 'ctm_eve'],
  ] as const) {
    await database.admin.query('UPDATE users SET billing_customer = $1 WHERE id = $2', [
      customer,
      user.userId,
    ])
  }
  const unit_price = { amount: '4900', currency_code: 'EUR' }
  const price = { id: 'pri_team', unit_price, billing_cycle: { interval: 'month', frequency: 1 } }
  const items = [{ price, quantity: 3 }]
  const custom_data = {
    ...{ order: 'A-7', seats: 3, trusted: true, secret: 'kept to ourselves' },
    ...{ nested: { order: 1 }, long: 'x'.repeat(501) },
  }
  const times = ['2026-11-18T10:00:00Z', '2026-11-18T11:00:00Z', '2026-11-18T12:00:00Z'] as const
  t.equal(
    await apply('e1', { id: 'sub_a', customer_id: 'ctm_ada', items, custom_data }, times[0]),
    'processed',
  )
  const paused = { id: 'sub_b', customer_id: 'ctm_ada', status: 'paused' }
  t.equal(await apply('e2', paused, times[1]), 'processed')
  t.equal(await apply('e3', { id: 'sub_c', customer_id: 'ctm_eve' }, times[2]), 'processed')

  const { data } = (await ada.send('GET', '/subscriptions')).json()
  t.match(data, [{ id: 'sub_b', status: 'paused', plan: null }, { id: 'sub_a' }])
  t.strictSame(data[1], {
    ...{ id: 'sub_a', plan: 'team', status: 'active', cancelsAt: null },
    currentPeriodEnd: '2026-12-18T10:26:40.000Z',
    ...{ currency: 'eur', digits: 2, trialEndsAt: null, paymentsPaused: null },
    scheduledChange: null,
    metadata: { order: 'A-7', seats: '3', trusted: 'true' },
    items: [{ price: 'pri_team', quantity: 3, amount: 4_900, interval: 'month', intervalCount: 1 }],
  })
  const { token } = await eve.make()
  const headers = { authorization: `Bearer ${token}` }
  const byToken = await test.app.inject({ url: '/subscriptions', headers })
  t.match(byToken.json(), { data: [{ id: 'sub_c', plan: 'pro', metadata: {} }] })
  t.strictSame((await operator.send('GET', '/subscriptions')).json(), { data: [] })
  t.equal((await test.app.inject('/subscriptions')).statusCode, 401)
  t.equal((await ada.send('GET', '/subscriptions?customer=ctm_eve')).statusCode, 400)

  t.equal((await ada.send('GET', '/billing/subscriptions')).statusCode, 403)
  await signedInBy(test, operator.user.userId, 'an-operator')
  await addOperator(database, 'demo:an-operator')
  const all = await operator.send('GET', '/billing/subscriptions')
  t.match(all.json(), {
    data: [
      { id: 'sub_a', customer: 'ctm_ada', userId: ada.user.userId },
      { id: 'sub_b', customer: 'ctm_ada' },
      { id: 'sub_c', customer: 'ctm_eve', userId: eve.user.userId },
    ],
    nextCursor: null,
  })
  await database.admin.query(
    `UPDATE users SET billing_customer = NULL WHERE id = ${eve.user.userId}`,
  )
  t.match((await operator.send('GET', '/billing/subscriptions?limit=1')).json().data.length, 1)
  const listed = (await operator.send('GET', '/billing/subscriptions')).json().data
  t.match(listed[2], { id: 'sub_c', userId: null })
  t.strictSame((await eve.send('GET', '/subscriptions')).json(), { data: [] }, 'it is unlinked')
})
