import { createDeadlines } from '#src/runtime/deadlines.ts'
import { isDatabaseUnavailable } from '../errors.ts'

/** An item that waits for a commit, and the promise that `add` returned for it. */
export type Entry<Item, Result> = {
  readonly item: Item
  /** When it was added, in ms of `performance.now()`. */
  readonly addedAt: number
  resolve(result: Result): void
  reject(error: unknown): void
}

export type GroupCommitOptions<Item, Result> = {
  /**
   * Commits the items of all entries or of none, and resolves their promises.
   * @throws if nothing was committed
   */
  commit(entries: readonly Entry<Item, Result>[]): Promise<void>
  maxItems?: number
  /** Commits at a time; 1 unless set. */
  lanes?: number
  /**
   * A commit that takes longer than `afterMs` is not counted in `lanes`, so that others begin, up to
   * `most` at a time.
   */
  slow?: { afterMs: number; most: number }
  /** Bytes of one commit. A single item may be larger. */
  maxBytes?: number
  bytesOf?(item: Item): number
  /** Called when no item waits any longer. */
  onIdle?(): void
  /** Called after each commit. */
  onCommit?(items: number, ms: number): void
}

export type GroupCommit<Item, Result> = {
  /** Resolves once the item is committed; rejects if it was not. */
  add(item: Item): Promise<Result>
  /** What waits now, and how long a new item would wait, judged by the last commit. */
  waiting(): { items: number; bytes: number; oldestMs: number; expectedMs: number }
  /** Resolves when every item that was added is committed or rejected. */
  settled(): Promise<void>
}

/**
 * Group commit: items added while as many commits as allowed are in progress share the next one. There
 * is no timer, so a single item never waits for others.
 */
export function createGroupCommit<Item, Result>({
  commit,
  maxItems = 256,
  lanes = 1,
  slow,
  maxBytes = Number.POSITIVE_INFINITY,
  bytesOf = () => 0,
  onIdle,
  onCommit,
}: GroupCommitOptions<Item, Result>): GroupCommit<Item, Result> {
  const queue = createQueue<Item, Result>(maxItems, maxBytes, bytesOf)
  let lastCommitMs = 0
  const running = new Set<Promise<void>>()
  let slowLanes = 0
  const slowness = slow && createDeadlines(slow.afterMs)

  function mostLanes(): number {
    return slow === undefined ? lanes : Math.min(slow.most, lanes + slowLanes)
  }

  function startIfFree(): void {
    if (running.size < mostLanes()) start()
  }

  function start(): void {
    const lane = run()
    running.add(lane)

    async function run(): Promise<void> {
      // Items added in the same turn of the event loop share the first commit.
      await new Promise((resolve) => setImmediate(resolve))
      try {
        while (queue.size() > 0 && running.size <= mostLanes()) await commitNext()
      } finally {
        // At once: an item that is added after the last look at the queue starts the next commit.
        running.delete(lane)
        if (running.size === 0) {
          lastCommitMs = 0
          onIdle?.()
        }
      }
    }
  }

  async function commitNext(): Promise<void> {
    const batch = queue.takeBatch()
    const begun = performance.now()
    await leaveLaneIfSlow(commitOrSplit(commit, batch))
    lastCommitMs = performance.now() - begun
    onCommit?.(batch.length, lastCommitMs)
  }

  async function leaveLaneIfSlow(commit: Promise<void>): Promise<void> {
    if (slowness === undefined) return commit
    let isSlow = 0
    const deadline = slowness.begin(() => {
      isSlow = 1
      slowLanes += 1
      if (queue.size() > 0) startIfFree()
    })
    await commit
    slowness.end(deadline)
    slowLanes -= isSlow
  }

  return {
    add(item) {
      const promise = queue.add(item)
      startIfFree()
      return promise
    },
    waiting: () => queue.waiting(Math.ceil(queue.size() / maxItems) * lastCommitMs),
    async settled() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}

/** The items that wait for a commit, in their order. */
function createQueue<Item, Result>(
  maxItems: number,
  maxBytes: number,
  bytesOf: (item: Item) => number,
) {
  let queue: Entry<Item, Result>[] = []
  let queuedBytes = 0
  return {
    size: () => queue.length,
    add(item: Item): Promise<Result> {
      const { promise, resolve, reject } = Promise.withResolvers<Result>()
      queue.push({ item, addedAt: performance.now(), resolve, reject })
      queuedBytes += bytesOf(item)
      return promise
    },
    takeBatch(): Entry<Item, Result>[] {
      let bytes = 0
      let taken = 0
      for (const { item } of queue) {
        const size = bytesOf(item)
        if (taken === maxItems || (taken > 0 && bytes + size > maxBytes)) break
        taken += 1
        bytes += size
      }
      const batch = queue.slice(0, taken)
      queue = queue.slice(taken)
      queuedBytes -= bytes
      return batch
    },
    waiting: (expectedMs: number) => ({
      items: queue.length,
      bytes: queuedBytes,
      expectedMs,
      oldestMs: queue[0] === undefined ? 0 : performance.now() - queue[0].addedAt,
    }),
  }
}

/** Never rejects. Splits a refused batch in halves, so that only the bad item is rejected. */
async function commitOrSplit<Item, Result>(
  commit: GroupCommitOptions<Item, Result>['commit'],
  batch: readonly Entry<Item, Result>[],
): Promise<void> {
  try {
    await commit(batch)
  } catch (error) {
    if (batch.length === 1 || isDatabaseUnavailable(error)) {
      for (const { reject } of batch) reject(error)
      return
    }
    const half = batch.length >> 1
    await commitOrSplit(commit, batch.slice(0, half))
    await commitOrSplit(commit, batch.slice(half))
  }
}

/** Runs work, sooner or later. */
export type Run = <T>(work: () => Promise<T>) => Promise<T>

/**
 * Runs work in two groups at a time. What is added meanwhile begins together, so that transactions of
 * different tenants share a packet (`openPacketPool`). Work that takes longer than what began beside it,
 * because it waits for a lock, does not hold up the next group.
 * @param most work of one group
 */
export function runTogether(most: number): Run {
  const group = createGroupCommit<() => Promise<void>, void>({
    lanes: 2, // one is prepared while the database works on the other
    maxItems: most,
    async commit(entries) {
      await Promise.race(entries.map(({ item, resolve, reject }) => item().then(resolve, reject)))
    },
  })
  return async (work) => {
    const done = Promise.withResolvers<Awaited<ReturnType<typeof work>>>()
    await group.add(async () => done.resolve(await work()))
    return done.promise
  }
}
