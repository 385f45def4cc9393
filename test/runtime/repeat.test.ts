import { mock } from 'node:test'
import { setImmediate as settle } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { repeat } from '#src/runtime/repeat.ts'

const everyMs = 1_000

function mockTimer(t: Test) {
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  return async (times = 1) => {
    for (let n = 0; n < times; n++) {
      await settle() // the call before has ended
      mock.timers.tick(everyMs)
      await settle()
    }
  }
}

t.test('the first call is made at once if that is wanted, and none after the stop', async (t) => {
  const tick = mockTimer(t)
  const calls: string[] = []
  const now = repeat(async () => void calls.push('now'), { everyMs, atOnce: true })
  const later = repeat(async () => void calls.push('later'), { everyMs })
  t.strictSame(calls, ['now'])
  await tick(2)
  t.strictSame(calls, ['now', 'now', 'later', 'now', 'later'])
  await Promise.all([now.stop(), later.stop()])
  await tick(2)
  t.equal(calls.length, 5)
})

t.test('calls do not overlap, and the stop waits for the last one', async (t) => {
  const tick = mockTimer(t)
  let calls = 0
  let aborted = false
  const { promise, resolve } = Promise.withResolvers<void>()
  const repeated = repeat(
    async (stopping) => {
      calls += 1
      await promise
      aborted = stopping.aborted
    },
    { everyMs },
  )
  await tick(3)
  t.equal(calls, 1)
  let hasStopped = false
  const stopped = repeated.stop().then(() => {
    hasStopped = true
  })
  await settle()
  t.notOk(hasStopped)
  resolve()
  await stopped
  t.ok(aborted, 'the call is told')
})

t.test('a call that leaves something to do is followed by another at once', async (t) => {
  const tick = mockTimer(t)
  let left = 3
  const repeated = repeat(
    async () => {
      left -= 1
      return left > 0 ? 'more' : 'done'
    },
    { everyMs },
  )
  await tick()
  t.equal(left, 0)
  await repeated.stop()
})

t.test('a stop ends calls that would follow each other for ever', async (t) => {
  let calls = 0
  const repeated = repeat(
    async () => {
      calls += 1
      await settle()
      return 'more'
    },
    { everyMs, atOnce: true },
  )
  while (calls < 3) await settle()
  await repeated.stop()
  const made = calls
  await settle()
  t.equal(calls, made)
})

t.test('an error is reported, and the next call is made nevertheless', async (t) => {
  const tick = mockTimer(t)
  const errors: unknown[] = []
  const failure = new Error('no database')
  const onError = (error: unknown) => void errors.push(error)
  const repeated = repeat(() => Promise.reject(failure), { everyMs, onError })
  await tick(2)
  t.strictSame(errors, [failure, failure])
  await repeated.stop()
})
