import { type Repeat, type Repeated, repeat as repeatOnTimer } from '#src/runtime/repeat.ts'

/** Requests counted in the current window, and the milliseconds until the window ends. */
export type Count = { current: number; ttl: number }

// Every request waits for its count, so a slow reply counts as no reply.
const commandTimeoutMs = 250
const maxReconnectDelayMs = 2_000
const namespace = 'gatehouse:limit:'

/**
 * Counts shared by all processes, in Redis 7 or newer. Resolves after the first connection attempt,
 * whether or not it succeeded; the client reconnects by itself.
 */
export async function openSharedCounts(url: string) {
  const { Redis } = await import('ioredis') // loaded only if Redis is configured
  const redis = new Redis(url, {
    lazyConnect: true,
    commandTimeout: commandTimeoutMs,
    connectTimeout: maxReconnectDelayMs,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(attempt * 100, maxReconnectDelayMs),
  })
  // Failures are reported by count() and ping(); an `error` event without a listener would end the process.
  redis.on('error', () => {})
  await redis.connect().catch(() => {})
  return {
    /** @throws when Redis does not reply in time */
    async count(key: string, windowMs: number): Promise<Count> {
      const name = namespace + key
      const transaction = redis.multi().incr(name).pexpire(name, windowMs, 'NX').pttl(name)
      const [current, , ttl] = ((await transaction.exec()) ?? []).map(([error, value]) =>
        error ? null : value,
      )
      if (typeof current !== 'number' || typeof ttl !== 'number') throw new Error('no count')
      return { current, ttl: Math.max(ttl, 0) }
    },
    /** @throws when Redis does not reply in time; a connection that hangs is replaced */
    async ping(): Promise<void> {
      try {
        await redis.ping()
      } catch (error) {
        if (redis.status === 'ready') redis.disconnect(true)
        throw error
      }
    },
    close: () => redis.disconnect(),
  }
}

type CountRequest = (key: string, windowMs: number) => Promise<Count>

const trialMs = 5_000

/**
 * Connects to Redis once, logs in and waits for an answer.
 * @returns why it cannot be used; null if it can
 */
export async function tryRedis(url: string): Promise<Error | null> {
  const { Redis } = await import('ioredis')
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: trialMs,
    commandTimeout: trialMs,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  })
  // The event has the reason; what the calls throw afterwards only says that the connection is
  // closed.
  const reasons: Error[] = []
  redis.on('error', (error) => reasons.push(error))
  try {
    await redis.connect()
    await redis.ping()
    return null
  } catch (error) {
    return reasons[0] ?? (error instanceof Error ? error : new Error(String(error)))
  } finally {
    redis.disconnect()
  }
}

export type BreakerOptions = {
  shared: { count: CountRequest; ping(): Promise<void> }
  local: (key: string, windowMs: number) => Count
  /** Called when the shared counts become unavailable, with the error, and when they are back. */
  onChange: (isShared: boolean, error?: unknown) => void
  /** How often the shared counts are tried while they are unavailable; default: every second. */
  repeat?: Repeat
}

/**
 * Counts in Redis; after a failure in this process alone, until Redis responds to a probe. So a
 * Redis that hangs delays the requests of one moment, not every request for as long as it hangs.
 */
export function createBreaker({ shared, local, onChange, repeat = repeatOnTimer }: BreakerOptions) {
  let probes: Repeated | null = null

  function open(error: unknown): void {
    if (probes !== null) return
    onChange(false, error)
    probes = repeat(probe, { everyMs: probeMs, onError: () => {} })
  }

  async function probe(): Promise<void> {
    await shared.ping()
    if (probes === null) return
    close()
    onChange(true)
  }

  function close(): void {
    void probes?.stop()
    probes = null
  }

  return {
    /** Never rejects. */
    async count(key: string, windowMs: number): Promise<Count> {
      if (probes !== null) return local(key, windowMs)
      try {
        return await shared.count(key, windowMs)
      } catch (error) {
        open(error)
        return local(key, windowMs)
      }
    },
    close,
  }
}

const probeMs = 1_000

const defaultMaxKeys = 50_000 // about 10 MB

/**
 * Counts of this process only, in memory. When it is full, the windows that began first are dropped:
 * those end first, and all other counts are kept.
 */
export function createLocalCounts(
  maxKeys = defaultMaxKeys,
): (key: string, windowMs: number) => Count {
  const windows = new Map<string, { current: number; endsAt: number }>()
  return (key, windowMs) => {
    const now = performance.now()
    const running = windows.get(key)
    if (running !== undefined && running.endsAt > now) {
      running.current += 1
      return { current: running.current, ttl: running.endsAt - now }
    }
    // A key that is set again moves to the end, so the first key has the oldest window.
    windows.delete(key)
    const [oldest] = windows.keys()
    if (windows.size >= maxKeys && oldest !== undefined) windows.delete(oldest)
    windows.set(key, { current: 1, endsAt: now + windowMs })
    return { current: 1, ttl: windowMs }
  }
}
