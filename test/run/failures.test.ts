import t from 'tap'
import { describeFailures, failuresOf, outcomeOf } from './failures.ts'

const run = `TAP version 14
# Subtest: test/orders.test.ts
    # Subtest: an order is read
        ok 1 - its owner
        not ok 2 - should be equal
          ---
          diff: |
            -200
            +404
          ...
        
        not ok 3 - later # TODO
    not ok 1 - an order is read # time=3ms
      ---
      at:
        lineNumber: 12
      ...
    # Subtest: an order is kept
        ok 1 - it is
    ok 2 - an order is kept
not ok 1 - test/orders.test.ts # time=9ms

# Subtest: test/killed.test.ts
    ok 1 - begins
not ok 2 - test/killed.test.ts # time=300000ms
  ---
  exitCode: null
  ...
ok 3 - test/posts.test.ts
`

t.test('a failed assertion is listed once, with its tests and its explanation', async (t) => {
  t.strictSame(failuresOf(run), [
    [
      'test/orders.test.ts',
      'an order is read',
      'not ok 2 - should be equal',
      'diff: |',
      '  -200',
      '  +404',
    ].join('\n  '),
    ['not ok 2 - test/killed.test.ts # time=300000ms', 'exitCode: null'].join('\n  '),
  ])
})

t.test('assertions are counted without the results of tests', async (t) => {
  t.strictSame(outcomeOf(run), { passed: 4, failed: 1, skipped: 1 })
})

t.test('a long list ends with how many are not shown', async (t) => {
  const many = Array.from({ length: 23 }, (_, n) => `not ok ${n + 1} - test`).join('\n')
  t.match(describeFailures(many), /^Failed:\n\nnot ok 1 - test\n/)
  t.match(describeFailures(many), /not ok 20 - test\n\nand 3 more$/)
  t.equal(describeFailures('ok 1 - test'), '')
})
