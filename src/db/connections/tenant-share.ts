/** A tenant has as much in use, and as many requests waiting for it, as it may have. The message names the limit. */
export class TenantBusy extends Error {
  constructor(limit: string) {
    super(limit)
    this.name = 'TenantBusy'
  }
}

export type ShareLimits = {
  /** Places that one tenant can have at a time, such as connections. */
  places: number
  /** Requests of one tenant that wait for one of them. */
  waiting: number
  waitMs: number
  /** What a place is and whose they are, for the message of TenantBusy. */
  what?: string
  whose?: string
}

/** How long a request waits for the share of its tenant: a burst ends by then, and a client still waits. */
const shareWaitMs = 5_000

/**
 * What one tenant may use of a pool: two thirds, so that its requests, all waiting for one lock, leave
 * connections to the others.
 * @param size of the pool
 */
export function shareOf(size: number, waitMs = shareWaitMs): ShareLimits {
  return { places: Math.max(1, Math.floor((size * 2) / 3)), waiting: 16 * size, waitMs }
}

/**
 * The shares of transactions that end a right, which may wait long for a lock: few for one tenant, and
 * half of the pool for all, so that a crowd of them leaves connections to everything else.
 */
export function endingSharesOf(
  size: number,
  waitMs: number,
): Record<'tenant' | 'all', ShareLimits> {
  const share = (part: number, queues: number) => ({
    places: Math.max(1, Math.floor(size / part)),
    waiting: queues * 16 * size,
    waitMs,
  })
  return { tenant: share(5, 1), all: { ...share(2, 8), whose: 'of all tenants' } }
}

type Waiting = { begin(): void }
type Holder = { inUse: number; queue: Set<Waiting> }

/**
 * Runs work that needs a place, such as a connection of a pool. A tenant with its share in use waits here,
 * outside of the pool, in the order of arrival.
 */
export function createTenantShares({
  places,
  waiting,
  waitMs,
  what = 'connections to the database for requests',
  whose = 'of your tenant',
}: ShareLimits) {
  const holders = new Map<string, Holder>()
  const inUse = `All ${what} ${whose} are in use (${places}), and`

  function leave(key: string, holder: Holder): void {
    holder.inUse -= 1
    const [next] = holder.queue
    if (next !== undefined) next.begin()
    else if (holder.inUse === 0) holders.delete(key)
  }

  function enter(holder: Holder): Promise<void> | undefined {
    if (holder.inUse < places) {
      holder.inUse += 1
      return undefined
    }
    if (holder.queue.size >= waiting) {
      throw new TenantBusy(`${inUse} ${waiting} requests are waiting for one.`)
    }
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
        reject(new TenantBusy(`${inUse} none became free within ${waitMs / 1_000} s.`))
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
