import { isDatabaseUnavailable } from '#src/http/problems.ts'

/** Resolves when the item has been committed, rejects when it was not. */
export type Share<Item> = (key: string, item: Item) => Promise<void>

type Waiting<Item> = { item: Item; resolve(): void; reject(error: unknown): void }

const batchItems = 256

/**
 * Shared commits, key by key: while one of a key is under way, further items of it wait and share
 * the next. There is no timer, so an item that comes alone never waits for company.
 * @param commit all of them or none
 */
export function createGroupCommit<Item>(
  commit: (key: string, items: readonly Item[]) => Promise<void>,
): Share<Item> {
  const queues = new Map<string, Waiting<Item>[]>()

  async function run(key: string, queue: Waiting<Item>[]): Promise<void> {
    while (queue.length > 0) await settle(key, queue.splice(0, batchItems))
    queues.delete(key)
  }

  /** Answers every member. One bad item is looked for by halves, and answers for itself alone. */
  async function settle(key: string, batch: readonly Waiting<Item>[]): Promise<void> {
    try {
      await commit(
        key,
        batch.map(({ item }) => item),
      )
      for (const { resolve } of batch) resolve()
    } catch (error) {
      if (batch.length === 1 || isDatabaseUnavailable(error)) {
        for (const { reject } of batch) reject(error)
        return
      }
      const half = batch.length >> 1
      await settle(key, batch.slice(0, half))
      await settle(key, batch.slice(half))
    }
  }

  return (key, item) =>
    new Promise((resolve, reject) => {
      const waiting = { item, resolve, reject }
      const queue = queues.get(key)
      if (queue !== undefined) {
        queue.push(waiting)
        return
      }
      const fresh = [waiting]
      queues.set(key, fresh)
      // What ends in the same turn of the event loop shares the first commit.
      setImmediate(() => void run(key, fresh))
    })
}
