import { mock } from 'node:test'
import t from 'tap'
import { createDeadlines } from '#src/runtime/deadlines.ts'

t.test('those that are not ended pass, in their order', async (t) => {
  const deadlines = createDeadlines(5)
  const passed: string[] = []
  const begin = (name: string) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const onPassed = () => {
      passed.push(name)
      resolve()
    }
    return { promise, deadline: deadlines.begin(onPassed) }
  }
  const first = begin('first')
  const second = begin('second')
  const third = begin('third')
  deadlines.end(second.deadline)
  await Promise.all([first.promise, third.promise])
  t.same(passed, ['first', 'third'])
  // The timer of one that is over is that of the next, which passes no earlier for it.
  const fourth = begin('fourth')
  deadlines.end(fourth.deadline)
  const begun = performance.now()
  const fifth = begin('fifth')
  await fifth.promise
  t.ok(performance.now() >= begun + 5, 'not before its time')
  t.same(passed, ['first', 'third', 'fifth'])
  deadlines.end(fifth.deadline)
})

t.test('a limit that begins as another passes, passes too, with no second timer', async (t) => {
  const armed = mock.method(globalThis, 'setTimeout')
  t.teardown(() => armed.mock.restore())
  const deadlines = createDeadlines(5)
  await new Promise<void>((resolve) => {
    deadlines.begin(() => {
      const before = armed.mock.callCount()
      deadlines.begin(resolve)
      t.equal(armed.mock.callCount(), before, 'the timer that has fired looks at it')
    })
  })
})

t.test('they share one timer, which keeps the process only while one has not ended', (t) => {
  const armed = mock.method(globalThis, 'setTimeout')
  t.teardown(() => armed.mock.restore())
  const deadlines = createDeadlines(60_000)
  for (let n = 0; n < 1_000; n += 1) deadlines.end(deadlines.begin(() => {}))
  t.equal(armed.mock.callCount(), 1)
  const timer = armed.mock.calls[0]?.result
  t.equal(timer?.hasRef(), false)
  const deadline = deadlines.begin(() => {})
  t.equal(timer?.hasRef(), true)
  deadlines.end(deadline)
  t.equal(timer?.hasRef(), false)
  t.end()
})
