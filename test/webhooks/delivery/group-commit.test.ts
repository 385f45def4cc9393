import t from 'tap'
import { createLimit } from '#src/webhooks/delivery/dispatch.ts'
import { createGroupCommit } from '#src/webhooks/delivery/group-commit.ts'

t.test('items of a key share the commit after the one under way', async (t) => {
  const commits: [string, readonly number[]][] = []
  const first = Promise.withResolvers<void>()
  const share = createGroupCommit<number>(async (key, items) => {
    commits.push([key, items])
    if (items.includes(1)) await first.promise
  })
  const one = share('a', 1)
  await new Promise((resolve) => setImmediate(resolve))
  const rest = [share('a', 2), share('a', 3)]
  await share('b', 4)
  t.strictSame(commits, [
    ['a', [1]],
    ['b', [4]],
  ])
  first.resolve()
  await Promise.all([one, ...rest])
  t.strictSame(commits.at(-1), ['a', [2, 3]])
})

t.test('one bad item answers for itself alone', async (t) => {
  const committed: number[] = []
  const share = createGroupCommit<number>(async (_key, items) => {
    if (items.includes(3)) throw new Error('3 is bad')
    committed.push(...items)
  })
  const results = await Promise.allSettled([1, 2, 3, 4, 5].map((item) => share('a', item)))
  t.strictSame(
    results.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  )
  t.strictSame(committed, [1, 2, 4, 5])
})

t.test('a database that is away answers for all, without looking for the bad one', async (t) => {
  let tries = 0
  const share = createGroupCommit<number>(async () => {
    tries += 1
    throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' })
  })
  await Promise.allSettled([1, 2, 3].map((item) => share('a', item)))
  t.equal(tries, 1)
})

t.test('so much at once and no more, in the order it came', async (t) => {
  const limit = createLimit(2)
  const begun: number[] = []
  const gates = [0, 1, 2, 3].map(() => Promise.withResolvers<void>())
  const all = gates.map((gate, n) =>
    limit(() => {
      begun.push(n)
      return gate.promise
    }),
  )
  t.strictSame(begun, [0, 1])
  gates[1]?.reject(new Error('also what fails makes room'))
  await all[1]?.catch(() => {})
  t.strictSame(begun, [0, 1, 2])
  for (const gate of gates) gate.resolve()
  await Promise.allSettled(all)
  t.strictSame(begun, [0, 1, 2, 3])
})
