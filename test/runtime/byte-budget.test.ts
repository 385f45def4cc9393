import t from 'tap'
import { createByteBudget } from '#src/runtime/byte-budget.ts'

t.test(
  'nobody gets more than the part of one holder, all together not more than the total',
  async (t) => {
    const budget = createByteBudget({ total: 100, perHolder: 40 })
    t.ok(budget.take('a', 40))
    t.notOk(budget.take('a', 1))
    t.ok(budget.take('b', 40))
    t.notOk(budget.take('c', 21))
    t.ok(budget.take('c', 20))
    t.equal(budget.held(), 100)
    t.notOk(budget.take('d', 1))
    budget.give('a', 30)
    t.ok(budget.take('a', 30), 'what is given back can be taken again')
    for (const [holder, bytes] of [
      ['a', 40],
      ['b', 40],
      ['c', 20],
    ] as const) {
      budget.give(holder, bytes)
    }
    t.equal(budget.held(), 0)
    budget.take('a', 40)
    budget.give('a', 30)
    t.notOk(budget.take('a', 31), 'what is not given back still counts')
  },
)
