import t from 'tap'
import { TestOrder } from './test-order.ts'

const quick = { name: 'quick', seconds: 2 }
const other = { name: 'other', seconds: 2 }
const long = { name: 'long', seconds: 100 }
const here = { tests: [long, quick], place: 'here' }

t.test('a long test runs after a quick one', async (t) => {
  t.strictSame(new TestOrder().of(here), [quick, long])
})

t.test('a long test that has caught most runs first, also after an earlier occasion', async (t) => {
  const order = new TestOrder()
  for (let n = 0; n < 20; n += 1) {
    order.note(here, quick, { caught: false })
    order.note(here, long, { caught: true, seconds: 90 })
  }
  t.strictSame(order.of(here), [long, quick])
})

t.test(
  'what is known of a test counts for mutants with the same list or place alone',
  async (t) => {
    const order = new TestOrder()
    const three = [quick, other, long]
    order.note({ tests: three, place: 'here' }, other, { caught: true })
    t.strictSame(order.of({ tests: three, place: 'there' }), [other, quick, long], 'the same list')
    const two = [quick, other]
    t.strictSame(order.of({ tests: two, place: 'here' }), [other, quick], 'the same place')
    t.strictSame(order.of({ tests: two, place: 'there' }), [quick, other])
  },
)
