import t from 'tap'
import { resultInTime, resultOfWork } from '#src/runtime/time-limit.ts'

const ms = 50
const clock = new Int32Array(new SharedArrayBuffer(4))

/** Takes the time, and nothing of the processor. */
function wait(): void {
  Atomics.wait(clock, 0, 0, 2 * ms)
}

t.test('work that had nothing of the processor is begun again', async (t) => {
  let begun = 0
  const work = () => {
    begun += 1
    if (begun === 1) wait()
    return 'done'
  }
  t.equal(resultOfWork(ms, work), null, 'the time is over')
  t.equal(begun, 1)
  begun = 0
  t.equal(resultInTime(ms, work), 'done')
  t.equal(begun, 2)
})

t.test('but not for ever, and what never ends has no result', async (t) => {
  let begun = 0
  const waiting = () => {
    begun += 1
    wait()
    return 'done'
  }
  t.equal(resultInTime(ms, waiting), null)
  t.equal(begun, 3)
  const working = () => {
    while (true) clock.fill(0)
  }
  t.equal(resultInTime(ms, working), null)
})
