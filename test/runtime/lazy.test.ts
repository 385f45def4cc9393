import t from 'tap'
import { untilSuccess } from '#src/runtime/lazy.ts'

t.test('a result is kept, a failure is not', async (t) => {
  const outcomes: (() => string)[] = [
    () => {
      throw new Error('the file cannot be read')
    },
    () => 'loaded',
    () => 'loaded again',
  ]
  let calls = 0
  const load = untilSuccess(async () => outcomes[calls++]?.())
  const [first, second] = [load(), load()]
  await t.rejects(first, /cannot be read/)
  await t.rejects(second, /cannot be read/, 'whoever waits for the same attempt fails with it')
  t.same(await Promise.all([load(), load()]), ['loaded', 'loaded'])
  t.equal(await load(), 'loaded')
  t.equal(calls, 2)
})
