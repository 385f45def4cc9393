import t from 'tap'
import { createSlots, roomOf, shareOf } from '#src/webhooks/delivery/slots.ts'
import { deliverLimits } from '#src/webhooks/delivery/worker.ts'

t.test('two hundred endpoints that hang leave room for one that responds', async (t) => {
  let taken = 0
  for (let endpoint = 0; endpoint < 200; endpoint += 1) {
    taken += roomOf({ ...deliverLimits, taken }, 0)
  }
  t.ok(taken > deliverLimits.inFlight / 2, 'most of the room is used')
  t.ok(roomOf({ ...deliverLimits, taken }, 0) > 0, 'one more is free')
})

t.test('one endpoint alone gets a fixed share', async (t) => {
  const limits = { inFlight: 100, perEndpoint: 10 }
  t.equal(shareOf({ ...limits, taken: 0 }), 10)
  t.equal(shareOf({ ...limits, taken: 75 }), 1, 'the last quarter is for others')
})

t.test('the room of an endpoint', async (t) => {
  const limits = { inFlight: 100, perEndpoint: 10 }
  for (const [taken, sending, room] of [
    [0, 0, 9],
    [6, 6, 3],
    [10, 10, 0],
    [75, 0, 1],
    [75, 1, 0],
    [99, 0, 1],
    [100, 0, 0],
  ] as const) {
    t.equal(
      roomOf({ ...limits, taken }, sending),
      room,
      `${taken} taken, ${sending} of them its own`,
    )
  }
})

t.test('those who wait for a slot are called in order, one for each slot', async (t) => {
  const slots = createSlots({ inFlight: 2, perEndpoint: 1 }, () => false)
  slots.take()
  slots.take()
  t.equal(roomOf(slots.counts(), 0), 0)
  const called: string[] = []
  slots.wait(() => called.push('first'))
  slots.wait(() => called.push('second'))
  t.strictSame(called, [])
  slots.free()
  t.strictSame(called, ['first'])
  slots.free()
  t.strictSame(called, ['first', 'second'])
  t.equal(roomOf(slots.counts(), 0), 1)
})
