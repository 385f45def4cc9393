import t from 'tap'
import { createGroupCommit, runTogether } from '#src/db/connections/group-commit.ts'

/** A group commit whose `write` commits all items or throws. */
function groupOf(write: (items: readonly number[]) => Promise<void>) {
  return createGroupCommit<number, void>({
    async commit(entries) {
      await write(entries.map(({ item }) => item))
      for (const { resolve } of entries) resolve()
    },
  })
}

t.test('items added during a commit share the next one', async (t) => {
  const commits: (readonly number[])[] = []
  const first = Promise.withResolvers<void>()
  const group = groupOf(async (items) => {
    commits.push(items)
    if (items.includes(1)) await first.promise
  })
  const one = group.add(1)
  await new Promise((resolve) => setImmediate(resolve))
  const rest = [group.add(2), group.add(3)]
  t.strictSame(commits, [[1]])
  t.equal(group.waiting().items, 2)
  first.resolve()
  await Promise.all([one, ...rest])
  t.strictSame(commits, [[1], [2, 3]])
  await group.settled()
  t.strictSame(group.waiting(), { items: 0, bytes: 0, oldestMs: 0, expectedMs: 0 })
})

t.test('an item added right after a commit is committed, however soon', async (t) => {
  for (let ticks = 0; ticks < 20; ticks += 1) {
    const committed: number[] = []
    const group = groupOf(async (items) => {
      committed.push(...items)
    })
    await group.add(1)
    for (let n = 0; n < ticks; n += 1) await null
    void group.add(2)
    await new Promise((resolve) => setImmediate(resolve))
    await new Promise((resolve) => setImmediate(resolve))
    t.strictSame(committed, [1, 2], `${ticks} ticks later`)
  }
})

t.test('only the bad item of a batch is rejected', async (t) => {
  const committed: number[] = []
  const group = groupOf(async (items) => {
    if (items.includes(3)) throw new Error('3 is bad')
    committed.push(...items)
  })
  const results = await Promise.allSettled([1, 2, 3, 4, 5].map((item) => group.add(item)))
  t.strictSame(
    results.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  )
  t.strictSame(committed, [1, 2, 4, 5])
})

t.test('an unavailable database rejects the whole batch at once', async (t) => {
  let tries = 0
  const group = groupOf(async () => {
    tries += 1
    throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' })
  })
  const results = await Promise.allSettled([1, 2, 3].map((item) => group.add(item)))
  t.ok(results.every(({ status }) => status === 'rejected'))
  t.equal(tries, 1)
})

t.test('as many commits run at a time as there are lanes', async (t) => {
  const commits: (readonly number[])[] = []
  const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  let idle = 0
  const group = createGroupCommit<number, void>({
    lanes: 2,
    async commit(entries) {
      commits.push(entries.map(({ item }) => item))
      await ends[commits.length - 1]?.promise
      for (const { resolve } of entries) resolve()
    },
    onIdle: () => {
      idle += 1
    },
  })
  const items = [group.add(1)]
  await turn()
  items.push(group.add(2))
  await turn()
  items.push(group.add(3), group.add(4))
  await turn()
  t.strictSame(commits, [[1], [2]], 'what no lane is free for waits')
  ends[1]?.resolve()
  await Promise.all(items.slice(1))
  t.strictSame(commits, [[1], [2], [3, 4]], 'the first free lane takes all that waits')
  t.equal(idle, 0)
  ends[0]?.resolve()
  await group.settled()
  t.equal(idle, 1)
})

t.test('a slow commit leaves its lane to others', async (t) => {
  const commits: (readonly number[])[] = []
  const begun = new Map<number, () => void>()
  const ends = [1, 2, 3].map(() => Promise.withResolvers<void>())
  const group = createGroupCommit<number, void>({
    slow: { afterMs: 1, most: 2 },
    async commit(entries) {
      commits.push(entries.map(({ item }) => item))
      for (const { item } of entries) begun.get(item)?.()
      await ends[commits.length - 1]?.promise
      for (const { resolve } of entries) resolve()
    },
  })
  const beginning = (item: number) => new Promise<void>((resolve) => begun.set(item, resolve))
  const items = [group.add(1)]
  const second = beginning(2)
  items.push(group.add(2))
  await second
  t.strictSame(commits[0], [1, 2], 'of the same turn')
  const third = beginning(3)
  items.push(group.add(3))
  await third
  t.strictSame(commits, [[1, 2], [3]], 'nothing else was added, and nothing had ended')
  items.push(group.add(4))
  ends[0]?.resolve()
  await items[0]
  ends[1]?.resolve()
  ends[2]?.resolve()
  await Promise.all(items)
  await group.settled()
  t.strictSame(commits, [[1, 2], [3], [4]])
})

t.test('work that is added while two groups are under way begins together', async (t) => {
  const run = runTogether(3)
  const begun: number[][] = [[]]
  const ends = new Map<number, () => void>()
  const work = (n: number) => async () => {
    begun.at(-1)?.push(n)
    await new Promise<void>((resolve) => ends.set(n, resolve))
    if (n === 4) throw new Error('4 fails')
    return n
  }
  const step = async () => {
    await new Promise((resolve) => setImmediate(resolve))
    await new Promise((resolve) => setImmediate(resolve))
    begun.push([])
  }
  const first = run(work(1))
  await step()
  const second = run(work(2))
  await step()
  const rest = Promise.allSettled([3, 4, 5, 6].map((n) => run(work(n))))
  await step()
  t.strictSame(begun, [[1], [2], [], []])
  ends.get(1)?.()
  await step()
  t.strictSame(begun.at(-2), [3, 4, 5])
  ends.get(4)?.()
  await step()
  t.strictSame(begun.at(-2), [6], 'although 3 and 5 have not ended')
  for (const end of ends.values()) end()
  t.strictSame(await Promise.all([first, second]), [1, 2])
  t.match(await rest, [
    { value: 3 },
    { reason: { message: '4 fails' } },
    { value: 5 },
    { value: 6 },
  ])
})
