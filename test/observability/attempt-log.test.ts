import { mock } from 'node:test'
import t from 'tap'
import { createAttemptLog } from '#src/observability/attempt-log.ts'

type Said = { level: string; facts: object; message: string }

/** A log, and the lines that were written to it. */
function record() {
  const said: Said[] = []
  const write = (level: string) => (facts: object, message: string) =>
    void said.push({ level, facts, message })
  return { said, log: { info: write('info'), warn: write('warn') } }
}

t.test('each attempt has a line up to the rate; one more line counts the others', async (t) => {
  const { said, log } = record()
  const attempts = createAttemptLog(log, 2)
  for (let n = 0; n < 5; n++) attempts.add('info', { n }, true)
  t.match(said, [
    { level: 'info', facts: { n: 0 }, message: 'delivery attempt succeeded' },
    { level: 'info', facts: { n: 1 }, message: 'delivery attempt succeeded' },
  ])
  t.equal(said.length, 2)
  attempts.close()
  t.strictSame(said.slice(2), [
    {
      level: 'info',
      facts: { succeeded: 3, failed: 0, perSecond: 2 },
      message: 'delivery attempts not logged one by one',
    },
  ])
})

t.test('many successes leave out no failure, and the rate begins again each second', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const { said, log } = record()
  const attempts = createAttemptLog(log, 1)
  for (let n = 0; n < 9; n++) attempts.add('info', {}, true)
  attempts.add('warn', { deliveryId: 'one' }, false)
  t.match(said.at(-1), {
    level: 'warn',
    facts: { deliveryId: 'one' },
    message: 'delivery attempt failed',
  })
  mock.timers.tick(1_000)
  t.match(said.at(-1)?.facts, { succeeded: 8, failed: 0 })
  attempts.add('info', { deliveryId: 'two' }, true)
  t.match(said.at(-1)?.facts, { deliveryId: 'two' })
  const lines = said.length
  attempts.close()
  attempts.close()
  t.equal(said.length, lines, 'nothing was left out, so nothing is said')
})
