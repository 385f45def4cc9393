import pg from 'pg'
import type { PoolWatch } from '#src/observability/metrics.ts'
import { KeepingClient } from './kept-statements.ts'
import { openingMs } from './pool-options.ts'

/**
 * A pool that reports how long callers wait for a connection. A connection that opens after its caller
 * has given up is kept for the next one. The driver's pool closes it, so against a server that opens
 * connections slower than `connectionTimeoutMillis` it would never have one.
 */
export class WatchedPool extends pg.Pool {
  readonly #watch: PoolWatch | undefined
  readonly #acquireMs: number
  #callers = 0

  /** @param options `connectionTimeoutMillis`: how long a caller waits */
  constructor(options: pg.PoolConfig & { connectionTimeoutMillis: number }, watch?: PoolWatch) {
    const { connectionTimeoutMillis: acquireMs } = options
    const connectionTimeoutMs = Math.max(acquireMs, openingMs)
    super({ ...options, Client: KeepingClient, connectionTimeoutMillis: connectionTimeoutMs })
    this.#acquireMs = acquireMs
    this.#watch = watch
    watch?.opened(this)
  }

  /** How many wait for a connection; `waitingCount` also has those that have given up. */
  get callers(): number {
    return this.#callers
  }

  override connect(): Promise<pg.PoolClient>
  override connect(callback: Connected): void
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    if (callback !== undefined) return void this.#acquire(callback)
    return new Promise((resolve, reject) => {
      this.#acquire((error, client) => (client === undefined ? reject(error) : resolve(client)))
    })
  }

  #acquire(callback: Connected): void {
    const begun = performance.now()
    let isLate = false
    this.#callers += 1
    const tell = (failed: boolean) => {
      this.#callers -= 1
      this.#watch?.acquired((performance.now() - begun) / 1_000, failed)
    }
    const timer = setTimeout(() => {
      isLate = true
      tell(true)
      callback(new Error('timeout exceeded when trying to connect'), undefined, () => {})
    }, this.#acquireMs).unref()
    super.connect((error, client, done) => {
      clearTimeout(timer)
      if (isLate) return client?.release()
      tell(client === undefined)
      callback(error, client, done)
    })
  }
}

type Connected = Parameters<pg.Pool['connect']>[0]
