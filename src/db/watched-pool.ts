import pg from 'pg'
import type { PoolWatch } from './metrics.ts'

/** A pool that tells how long its connections were waited for. */
export class WatchedPool extends pg.Pool {
  readonly #watch: PoolWatch | undefined

  constructor(options: pg.PoolConfig, watch?: PoolWatch) {
    super(options)
    this.#watch = watch
    watch?.opened(this)
  }

  override connect(): Promise<pg.PoolClient>
  override connect(callback: Connected): void
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    const watch = this.#watch
    if (watch === undefined) return callback ? void super.connect(callback) : super.connect()
    const begun = performance.now()
    const tell = (failed: boolean) => watch.acquired((performance.now() - begun) / 1_000, failed)
    if (callback === undefined) {
      const client = super.connect()
      client.then(
        () => tell(false),
        () => tell(true),
      )
      return client
    }
    super.connect((error, client, done) => {
      tell(error !== undefined && error !== null)
      callback(error, client, done)
    })
    return undefined
  }
}

type Connected = Parameters<pg.Pool['connect']>[0]
