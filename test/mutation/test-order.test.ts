import t from 'tap'
import { TestOrder } from './test-order.ts'

const quick = { name: 'quick', seconds: 2 }
const long = { name: 'long', seconds: 100 }
const list = [long, quick]

t.test('a long test runs after a quick one', async (t) => {
  t.strictSame(new TestOrder().of(list), [quick, long])
})

t.test('a long test that has caught most runs first, also after an earlier occasion', async (t) => {
  const order = new TestOrder()
  for (let n = 0; n < 20; n += 1) {
    order.note(list, quick, { caught: false })
    order.note(list, long, { caught: true, seconds: 90 })
  }
  t.strictSame(order.of(list), [long, quick])
})

t.test('what is known of a test counts for mutants with the same list alone', async (t) => {
  const order = new TestOrder()
  for (let n = 0; n < 20; n += 1) order.note(list, long, { caught: true })
  t.strictSame(order.of([long, quick, { ...quick, name: 'other' }])[2], long)
})
