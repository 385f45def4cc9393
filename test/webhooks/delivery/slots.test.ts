import t from 'tap'
import { createSlots } from '#src/webhooks/delivery/slots.ts'
import { deliverLimits } from '#src/webhooks/delivery/worker.ts'

t.test('two hundred endpoints that hang leave room for one that responds', async (t) => {
  const slots = createSlots(deliverLimits, () => false)
  let taken = 0
  for (let endpoint = 0; endpoint < 200; endpoint += 1) {
    for (let sending = 0; sending < slots.share() && slots.take(); sending += 1) taken += 1
  }
  t.ok(taken > deliverLimits.inFlight / 2, 'most of the room is used')
  t.equal(slots.take(), true, 'one more is free')
})

t.test('one endpoint alone gets a fixed share', async (t) => {
  const slots = createSlots({ inFlight: 100, perEndpoint: 10 }, () => false)
  t.equal(slots.share(), 10)
  for (let n = 0; n < 75; n += 1) slots.take()
  t.equal(slots.share(), 1, 'the last quarter is for others')
})

t.test('those who wait for a slot are called in order, one for each slot', async (t) => {
  const slots = createSlots({ inFlight: 2, perEndpoint: 1 }, () => false)
  t.strictSame([slots.take(), slots.take(), slots.take()], [true, true, false])
  const called: string[] = []
  slots.wait(() => called.push('first'))
  slots.wait(() => called.push('second'))
  t.strictSame(called, [])
  slots.free()
  t.strictSame(called, ['first'])
  slots.free()
  t.strictSame(called, ['first', 'second'])
  t.equal(slots.take(), true)
})
