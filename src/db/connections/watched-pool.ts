import pg from 'pg'
import type { PoolWatch } from '#src/observability/metrics.ts'
import { KeepingClient } from './kept-statements.ts'
import { openingMs } from './pool-options.ts'

/** How long a free connection waits for the next caller here before the driver's pool has it again. */
const sparesMs = 1_000

/**
 * A pool that reports how long callers wait for a connection. A connection that opens after its caller
 * has given up is kept for the next one. The driver's pool closes it, so against a server that opens
 * connections slower than `connectionTimeoutMillis` it would never have one.
 *
 * A connection that becomes free while nobody waits is given to the next caller without the driver's pool, which
 * would arm and clear three timers for it. It closes those that are not used; to it they are in use until `sparesMs`
 * have passed.
 */
export class WatchedPool extends pg.Pool {
  readonly #watch: PoolWatch | undefined
  readonly #acquireMs: number
  readonly #spares: Spare[] = []
  readonly #broken = new WeakSet<pg.PoolClient>()
  #timer: NodeJS.Timeout | undefined
  #callers = 0

  /** @param options `connectionTimeoutMillis`: how long a caller waits */
  constructor(options: pg.PoolConfig & { connectionTimeoutMillis: number }, watch?: PoolWatch) {
    const { connectionTimeoutMillis: acquireMs } = options
    const connectionTimeoutMs = Math.max(acquireMs, openingMs)
    super({ ...options, Client: KeepingClient, connectionTimeoutMillis: connectionTimeoutMs })
    this.#acquireMs = acquireMs
    this.#watch = watch
    watch?.opened(this)
    this.on('connect', (client) => {
      // The driver's pool does not listen while a connection is in use, as spares are to it.
      const drop = () => this.#drop(client)
      client.on('error', drop).on('end', drop)
    })
  }

  /** How many wait for a connection; `waitingCount` also has those that have given up. */
  get callers(): number {
    return this.#callers
  }

  /** Connections that nobody uses. */
  get free(): number {
    return this.idleCount + this.#spares.length
  }

  override connect(): Promise<pg.PoolClient>
  override connect(callback: Connected): void
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    const client = this.#takeSpare()
    if (callback !== undefined) {
      if (client === undefined) this.#acquire(callback)
      else callback(undefined, client, client.release)
      return undefined
    }
    if (client !== undefined) return Promise.resolve(client)
    return new Promise((resolve, reject) => {
      this.#acquire((error, client) => (client === undefined ? reject(error) : resolve(client)))
    })
  }

  override end(): Promise<void>
  override end(callback: () => void): void
  override end(callback?: () => void): Promise<void> | undefined {
    this.#giveBackSpares()
    if (callback === undefined) return super.end()
    super.end(callback)
    return undefined
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
      if (client === undefined) callback(error, client, done)
      else callback(error, client, this.#keepWhenFree(client))
    })
  }

  #takeSpare(): pg.PoolClient | undefined {
    const spare = this.ending ? undefined : this.#spares.pop()
    if (spare === undefined) return undefined
    spare.isFree = false
    this.#watch?.acquired(0, false)
    return spare.client
  }

  /** From now on `release` keeps the connection for the next caller, unless it is broken or a caller waits. */
  #keepWhenFree(client: pg.PoolClient): pg.PoolClient['release'] {
    const spare: Spare = { client, isFree: false, giveBack: client.release }
    client.release = (destroy) => {
      if (spare.isFree) throw new Error('The connection was released before.')
      if (destroy || this.ending || this.#callers > 0 || this.#broken.has(client)) {
        spare.giveBack(destroy)
        return
      }
      spare.isFree = true
      this.#spares.push(spare)
      this.#timer ??= setTimeout(() => this.#giveBackSpares(), sparesMs).unref()
    }
    return client.release
  }

  #drop(client: pg.PoolClient): void {
    this.#broken.add(client)
    const index = this.#spares.findIndex((spare) => spare.client === client)
    if (index !== -1) this.#spares.splice(index, 1)[0]?.giveBack(true)
  }

  #giveBackSpares(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const { giveBack } of this.#spares.splice(0)) giveBack()
  }
}

type Connected = Parameters<pg.Pool['connect']>[0]

/** A connection of the driver's pool, and how it gets it back. */
type Spare = {
  readonly client: pg.PoolClient
  readonly giveBack: pg.PoolClient['release']
  isFree: boolean
}
