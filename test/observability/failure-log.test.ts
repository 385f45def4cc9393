import { mock } from 'node:test'
import t from 'tap'
import { createFailureLog } from '#src/observability/failure-log.ts'

t.test('many failures are one line a second, with their number', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const lines: object[] = []
  const log = createFailureLog({ error: (line: object) => void lines.push(line) }, 'failed')
  const fail = (message: string) => log.add(new Error(message))
  fail('first')
  t.match(lines.splice(0), [{ err: { message: 'first' }, failures: 1 }], 'the first at once')
  for (let n = 0; n < 960; n += 1) fail(`number ${n}`)
  mock.timers.tick(999)
  t.strictSame(lines, [])
  mock.timers.tick(1)
  t.match(lines.splice(0), [{ err: { message: 'number 959' }, failures: 960 }])
  fail('in the next second')
  t.strictSame(lines, [])
  mock.timers.tick(1_000)
  t.match(lines.splice(0), [{ failures: 1 }])
  mock.timers.tick(10_000)
  t.strictSame(lines, [], 'nothing while nothing fails')
  fail('later')
  fail('at the end')
  t.equal(lines.length, 1)
  log.close()
  t.match(lines, [{ failures: 1 }, { err: { message: 'at the end' }, failures: 1 }])
  log.close()
  t.equal(lines.length, 2)
})
