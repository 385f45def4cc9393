import type pg from 'pg'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

/** Hears of one pool: once when it is opened, then of each connection that was asked for. */
export type PoolWatch = {
  opened(pool: pg.Pool): void
  /** @param seconds how long it was waited for; `failed`: in vain */
  acquired(seconds: number, failed: boolean): void
}

export type PoolMetrics = {
  /** @param name what the pool is for; one of a handful */
  watch(name: string): PoolWatch
}

// An idle connection costs next to nothing; after 0.8 s the pool gives up (src/db/pool-options.ts).
const secondsBuckets = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1]

/** The numbers of the database pools of this process, looked at when they are asked for. */
export function createPoolMetrics(registry: Registry): PoolMetrics {
  const registers = [registry]
  const pools = new Map<string, pg.Pool>()
  const gauge = (name: string, help: string, look: (pool: pg.Pool) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['pool'],
      registers,
      collect() {
        for (const [name, pool] of pools) this.set({ pool: name }, look(pool))
      },
    })
  gauge('gatehouse_database_pool_max_connections', 'Connections a pool may open', (pool) => {
    return pool.options.max ?? 0
  })
  gauge('gatehouse_database_pool_connections', 'Connections open', (pool) => pool.totalCount)
  gauge('gatehouse_database_pool_idle_connections', 'Connections nobody uses', (pool) => {
    return pool.idleCount
  })
  gauge('gatehouse_database_pool_waiting', 'Work that waits for a connection', (pool) => {
    return pool.waitingCount
  })
  const acquire = new Histogram({
    name: 'gatehouse_database_pool_acquire_seconds',
    help: 'Seconds until a connection was had, or given up on',
    labelNames: ['pool'],
    buckets: secondsBuckets,
    registers,
  })
  const failures = new Counter({
    name: 'gatehouse_database_pool_acquire_failures_total',
    help: 'Connections that were not had: the pool was used up, or the database away',
    labelNames: ['pool'],
    registers,
  })
  return {
    watch(pool) {
      const labels = { pool }
      failures.inc(labels, 0)
      return {
        opened: (opened) => void pools.set(pool, opened),
        acquired(seconds, failed) {
          acquire.observe(labels, seconds)
          if (failed) failures.inc(labels)
        },
      }
    },
  }
}
