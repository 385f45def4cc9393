/** How often a key was counted in its window, and for how many milliseconds that still runs. */
export type Count = { current: number; ttl: number }

// A request waits for its count, so an answer later than this is as good as none.
const answerMs = 250
const longestPauseMs = 2_000
const namespace = 'gatehouse:limit:'

/**
 * Counts that all processes share, in Redis 7 or newer. Resolves once it is reached, or known to be
 * away for now; it comes back by itself after an outage.
 */
export async function openSharedCounts(url: string) {
  const { Redis } = await import('ioredis') // most have none, and then it takes neither time nor memory
  const redis = new Redis(url, {
    lazyConnect: true,
    commandTimeout: answerMs,
    connectTimeout: longestPauseMs,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(attempt * 100, longestPauseMs),
  })
  // Each count says for itself that Redis is away; unheard, the event would end the process.
  redis.on('error', () => {})
  await redis.connect().catch(() => {})
  return {
    /** @throws when Redis does not answer in time */
    async count(key: string, windowMs: number): Promise<Count> {
      const name = namespace + key
      const transaction = redis.multi().incr(name).pexpire(name, windowMs, 'NX').pttl(name)
      const [current, , ttl] = ((await transaction.exec()) ?? []).map(([error, value]) =>
        error ? null : value,
      )
      if (typeof current !== 'number' || typeof ttl !== 'number') throw new Error('no count')
      return { current, ttl: Math.max(ttl, 0) }
    },
    close: () => redis.disconnect(),
  }
}

const mostKeys = 50_000 // some ten megabytes

/** The same in this process alone, for as long as it runs. */
export function createLocalCounts(): (key: string, windowMs: number) => Count {
  const windows = new Map<string, { current: number; endsAt: number }>()
  return (key, windowMs) => {
    const now = performance.now()
    const running = windows.get(key)
    if (running !== undefined && running.endsAt > now) {
      running.current += 1
      return { current: running.current, ttl: running.endsAt - now }
    }
    if (windows.size >= mostKeys) windows.clear()
    windows.set(key, { current: 1, endsAt: now + windowMs })
    return { current: 1, ttl: windowMs }
  }
}
