import { setImmediate as later, setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { JobGone } from '#src/queue/enter-jobs.ts'
import { PostponedError } from '#src/webhooks/client/errors.ts'
import { attemptKey, type DueAttempt } from '#src/webhooks/delivery/claim.ts'
import { createSlots } from '#src/webhooks/delivery/slots.ts'
import { startTurn, type TurnWork } from '#src/webhooks/delivery/turn.ts'
import { chosenSeed } from '#test/support/models/seeded.ts'

const perEndpoint = 4
const seed = chosenSeed()
const runs = Number(process.env.MODEL_RUNS ?? 100)

t.test('a backlog is worked through, oldest first, its share at once', async (t) => {
  const world = createWorld()
  for (let n = 0; n < 100; n += 1) world.add(`${n}`, 1_000 - n)
  await world.start().done
  t.strictSame(
    world.made,
    Array.from({ length: 100 }, (_, n) => `${n}`),
  )
  t.equal(world.mostAtOnce, perEndpoint)
  t.strictSame(world.ends, ['ended'])
})

t.test('each attempt is made once, whenever its transaction commits', async (t) => {
  t.comment(`TEST_SEED=${seed} MODEL_RUNS=${runs}`)
  const arrival = fc.record({
    afterTurns: fc.nat(20),
    ageMs: fc.nat(900),
    isNotified: fc.boolean(),
    count: fc.integer({ min: 1, max: 12 }),
  })
  const schedule = fc.record({
    arrivals: fc.array(arrival, { maxLength: 12 }),
    claimTurns: fc.array(fc.nat(5), { minLength: 1, maxLength: 5 }),
    attemptTurns: fc.array(fc.nat(8), { minLength: 1, maxLength: 5 }),
    recordTurns: fc.array(fc.nat(5), { minLength: 1, maxLength: 5 }),
  })
  await fc.assert(
    fc.asyncProperty(schedule, async ({ arrivals, ...pace }) => {
      const world = createWorld(pace)
      let added = 0
      let current: ReturnType<typeof world.start> | null = null
      for (const { afterTurns, ageMs, isNotified, count } of arrivals) {
        for (let n = 0; n < afterTurns; n += 1) await later()
        for (let n = 0; n < count; n += 1) {
          world.add(`${added}`, ageMs)
          added += 1
        }
        // A turn that has ended leaves it to the next job.
        if (current === null || world.ends.length === world.starts) current = world.start()
        else if (isNotified) current.wake()
      }
      await current?.done
      // What was added after the last look at the table is found by the poll of the worker.
      if (world.waiting() > 0) await world.start().done
      const made = new Set(world.made)
      return made.size === added && world.made.length === added && world.waiting() === 0
    }),
    { numRuns: runs, seed },
  )
})

t.test('a turn that may not end goes on', async (t) => {
  const world = createWorld()
  world.add('first', 1_000)
  let refusals = 0
  const { done } = world.start({
    async end() {
      if (refusals > 0) return true
      refusals += 1
      world.add('second', 500)
      return false
    },
  })
  await done
  t.strictSame(world.made, ['first', 'second'])
})

t.test('a turn that is woken while it reads reads once more', async (t) => {
  const world = createWorld()
  let claims = 0
  const turn = world.start({
    async claim(since, known, room) {
      claims += 1
      const found = await world.work.claim(since, known, room)
      if (claims === 1) {
        world.add('meanwhile', 0)
        turn.wake()
      }
      return found
    },
  })
  await turn.done
  t.strictSame(world.made, ['meanwhile'])
  t.ok(claims > 1)
  t.equal(world.refusals, 0, 'before it tries to end')
})

t.test(
  'what is added behind the last claim does not wait for the end of the backlog',
  async (t) => {
    const world = createWorld()
    for (let n = 0; n < 100; n += 1) world.add(`${n}`, 500 - n)
    let added = 100
    const { done } = world.start({
      async attempt(due) {
        if (added === 150) world.add('late', 700)
        // The backlog goes on until the late one is made.
        if (!world.made.includes('late') && added < 50_000) world.add(`${added}`, 0)
        added += 1
        return world.work.attempt(due)
      },
    })
    await done
    t.ok(added < 50_000, 'the late one is made')
    t.equal(world.waiting(), 0)
  },
)

t.test(
  'a stop begins nothing more, and gives the turn back once the rest is recorded',
  async (t) => {
    const world = createWorld()
    for (let n = 0; n < 50; n += 1) world.add(`${n}`, 1_000 - n)
    const turn = world.start({
      async attempt(due) {
        turn.finish()
        return world.work.attempt(due)
      },
    })
    await turn.done
    t.ok(world.made.length <= perEndpoint)
    t.equal(world.waiting(), 50 - world.made.length, 'what was made is recorded')
    t.strictSame(world.ends, ['handed back'])
  },
)

t.test('a long turn gives way only if others wait', async (t) => {
  for (const isCrowded of [false, true]) {
    const world = createWorld({ isCrowded })
    for (let n = 0; n < 50; n += 1) world.add(`${n}`, 1_000 - n)
    await world.start({}, { longMs: -1 }).done
    t.strictSame(world.ends, [isCrowded ? 'handed back' : 'ended'])
    t.equal(world.waiting(), isCrowded ? 50 : 0)
  }
})

t.test('an error gives the turn up, and those in progress are recorded', async (t) => {
  const world = createWorld()
  for (let n = 0; n < 50; n += 1) world.add(`${n}`, 1_000 - n)
  const turn = world.start({
    async attempt(due) {
      if (due.deliveryId === '3') throw new Error('a fault of ours')
      return world.work.attempt(due)
    },
  })
  await turn.done
  t.strictSame(world.ends, ['given up: a fault of ours'])
  t.strictSame(world.failures, ['delivery attempt failed'])
  t.equal(world.waiting(), 50 - world.made.length)
})

t.test('a turn that another worker has is left without a word', async (t) => {
  const world = createWorld()
  world.add('first', 1_000)
  await world.start({ claim: () => Promise.reject(new JobGone('endpoint-turn')) }).done
  t.strictSame([world.made, world.ends, world.failures], [[], [], []])
})

t.test('a read that fails is repeated', async (t) => {
  const world = createWorld()
  world.add('first', 1_000)
  let claims = 0
  const turn = world.start({
    async claim(since, known, room) {
      claims += 1
      if (claims === 1) throw new Error('the database is away')
      return world.work.claim(since, known, room)
    },
  })
  await turn.done
  t.strictSame(world.made, ['first'])
  t.strictSame(world.failures, ['due deliveries could not be read'])
})

t.test('an address that is busy is tried again soon', async (t) => {
  const world = createWorld()
  world.add('first', 1_000)
  world.add('second', 900)
  let refusals = 0
  const turn = world.start({
    async attempt(due) {
      if (due.deliveryId === 'first' && refusals === 0) {
        refusals += 1
        throw new PostponedError('address-busy', 'enough connections')
      }
      return world.work.attempt(due)
    },
  })
  await turn.done
  t.same(new Set(world.made), new Set(['first', 'second']))
  t.strictSame(world.ends, ['ended'])
  t.equal(world.postponed, 1)
})

t.test('after a claim nothing is used that is older than a second', async (t) => {
  const world = createWorld({ inFlight: 1 })
  world.add('slow', 1_000)
  world.add('waits', 900)
  const seen: number[] = []
  const turn = world.start({
    async claim(since, known, room) {
      const found = await world.work.claim(since, known, room)
      for (const { deliveryId } of found) if (deliveryId === 'waits') seen.push(performance.now())
      return found
    },
    async attempt(due) {
      if (due.deliveryId === 'slow') await wait(1_200)
      return world.work.attempt(due)
    },
  })
  await turn.done
  t.strictSame(world.made, ['slow', 'waits'])
  t.ok(seen.length > 1, 'it was read again')
})

t.test('an abandoned turn records nothing and ends', async (t) => {
  await abandonDuring(t, 'attempt')
  await abandonDuring(t, 'claim')
})

async function abandonDuring(t: Test, step: 'attempt' | 'claim'): Promise<void> {
  const world = createWorld()
  world.add('first', 1_000)
  const turn = world.start({
    async [step](...args: never[]) {
      world.abandon()
      await (world.work[step] as (...args: never[]) => Promise<unknown>)(...args)
      throw new Error('the worker is gone')
    },
  })
  await turn.done
  t.strictSame([world.ends, world.waiting()], [[], 1], step)
}

type Pace = {
  /** How many turns of the event loop the calls take, one after another. */
  claimTurns?: readonly number[]
  attemptTurns?: readonly number[]
  recordTurns?: readonly number[]
  inFlight?: number
  isCrowded?: boolean
}

/** A table of due attempts, and turns that work on it. */
function createWorld({ inFlight = 16, isCrowded = false, ...pace }: Pace = {}) {
  const clock = { now: () => new Date() }
  const slots = createSlots(
    { inFlight: (inFlight * 4) / 3, perEndpoint: Math.min(perEndpoint, inFlight) },
    () => isCrowded,
  )
  const table = new Map<string, DueAttempt>()
  const abandoned = new AbortController()
  let atOnce = 0
  const world = {
    made: [] as string[],
    ends: [] as string[],
    failures: [] as string[],
    starts: 0,
    postponed: 0,
    refusals: 0,
    mostAtOnce: 0,
    waiting: () => table.size,
    abandon: () => abandoned.abort(),
    add(deliveryId: string, ageMs: number) {
      const dueAt = new Date(Date.now() - ageMs)
      const id = { tenantId: 'tenant', endpointId: 'endpoint', deliveryId }
      const due = { ...id, series: 0, number: 1, dueAt, released: false, delivery: null }
      table.set(deliveryId, due)
    },
    start(change: Partial<TurnWork> = {}, times = {}) {
      world.starts += 1
      const all = { idleMs: 0, longMs: 60_000, errorMs: 1, ...times }
      return startTurn({ ...world.work, ...change }, slots, all, clock, abandoned.signal)
    },
    work: {
      async claim(since, known, room) {
        // What is read is that of the beginning, or of the end.
        const before = read(since, known, room)
        await pass(pace.claimTurns)
        return calls % 2 === 0 ? before : read(since, known, room)
      },
      admit: async (due) => due,
      async attempt({ deliveryId }) {
        atOnce += 1
        world.mostAtOnce = Math.max(world.mostAtOnce, atOnce)
        world.made.push(deliveryId)
        await pass(pace.attemptTurns)
        atOnce -= 1
        return null
      },
      async record({ deliveryId }) {
        await pass(pace.recordTurns)
        table.delete(deliveryId)
      },
      async announce() {},
      async end() {
        await later()
        if (table.size > 0) {
          world.refusals += 1
          return false
        }
        world.ends.push('ended')
        return true
      },
      async handBack() {
        world.ends.push('handed back')
      },
      async giveUp(error) {
        world.ends.push(`given up: ${(error as Error).message}`)
      },
      postponed() {
        world.postponed += 1
      },
      failed(message) {
        world.failures.push(message)
      },
    } satisfies TurnWork as TurnWork,
  }

  function read(since: Date | null, known: readonly string[], room: number): DueAttempt[] {
    return [...table.values()]
      .filter((due) => (since === null || due.dueAt >= since) && !known.includes(attemptKey(due)))
      .toSorted((a, b) => a.dueAt.getTime() - b.dueAt.getTime())
      .slice(0, room)
  }

  let calls = 0
  async function pass(turns: readonly number[] = [1]): Promise<void> {
    calls += 1
    const count = turns[calls % turns.length] ?? 1
    for (let n = 0; n < count; n += 1) await later()
  }

  return world
}
