/** A tenant has as many connections in use, and requests waiting for one, as it may have. */
export class TenantBusy extends Error {
  constructor() {
    super('the tenant has its share in use')
    this.name = 'TenantBusy'
  }
}

export type ShareLimits = {
  /** Connections that one tenant may use at a time. */
  connections: number
  /** Requests of one tenant that wait for one of them. */
  waiting: number
  waitMs: number
}

/**
 * What one tenant may use of a pool: two thirds, so that its requests, all waiting for one lock, leave
 * connections to the others.
 * @param size of the pool
 */
export function shareOf(size: number, waitMs: number): ShareLimits {
  return { connections: Math.max(1, Math.floor((size * 2) / 3)), waiting: 16 * size, waitMs }
}

/**
 * The same for transactions that end a right, which may wait long for a lock: few for one tenant, and half of
 * the pool for all, so that a crowd of them leaves connections to everything else.
 */
export function endingSharesOf(
  size: number,
  waitMs: number,
): Record<'tenant' | 'all', ShareLimits> {
  const share = (part: number, queues: number) => ({
    connections: Math.max(1, Math.floor(size / part)),
    waiting: queues * 16 * size,
    waitMs,
  })
  return { tenant: share(5, 1), all: share(2, 8) }
}

type Waiting = { begin(): void }
type Holder = { inUse: number; queue: Set<Waiting> }

/**
 * Runs work that uses a connection of a pool. A tenant with its share in use waits here, outside of
 * the pool, in the order of arrival.
 */
export function createTenantShares({ connections, waiting, waitMs }: ShareLimits) {
  const holders = new Map<string, Holder>()

  function leave(key: string, holder: Holder): void {
    holder.inUse -= 1
    const [next] = holder.queue
    if (next !== undefined) next.begin()
    else if (holder.inUse === 0) holders.delete(key)
  }

  function enter(holder: Holder): Promise<void> | undefined {
    if (holder.inUse < connections) {
      holder.inUse += 1
      return undefined
    }
    if (holder.queue.size >= waiting) throw new TenantBusy()
    return new Promise((resolve, reject) => {
      const one = {
        begin() {
          clearTimeout(timer)
          holder.queue.delete(one)
          holder.inUse += 1
          resolve()
        },
      }
      const timer = setTimeout(() => {
        holder.queue.delete(one)
        reject(new TenantBusy())
      }, waitMs)
      holder.queue.add(one)
    })
  }

  /**
   * @param key of the tenant; undefined for work that is for none
   * @throws TenantBusy if there is no room, or none within `waitMs`
   */
  return async function withinShare<T>(
    key: string | undefined,
    work: () => Promise<T>,
  ): Promise<T> {
    if (key === undefined) return work()
    const holder = holders.get(key) ?? { inUse: 0, queue: new Set() }
    holders.set(key, holder)
    const entered = enter(holder)
    if (entered !== undefined) await entered
    try {
      return await work()
    } finally {
      leave(key, holder)
    }
  }
}
