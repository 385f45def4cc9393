import { createSecureContext } from 'node:tls'
import { Pool } from 'undici'
import { createConnector } from '#src/webhooks/client/connection.ts'
import { hostOf } from '#src/webhooks/client/url.ts'

/** Connections kept for the next attempt to the same addresses of the same origin. */
export type Pools = {
  /** Ask again for each attempt, with the addresses checked for it. */
  poolFor(url: URL, addresses: readonly string[]): Pool
  close(): Promise<void>
}

const maxPools = 500
const maxHeaderBytes = 16_384
// Shorter than servers commonly wait, so that none closes a connection while it is written to.
const idleMs = 1_000

/**
 * One pool for every origin and set of checked addresses: once a name answers otherwise, no attempt
 * finds its way back to an old connection. Pools close when idle; their number is bounded.
 */
export function createPools({ timeoutMs }: { timeoutMs: number }): Pools {
  const pools = new Map<string, Pool>()
  const secureContext = createSecureContext()

  function open(url: URL, addresses: readonly string[], key: string): Pool {
    const pool = new Pool(url.origin, {
      connect: createConnector({ host: hostOf(url), addresses, timeoutMs, secureContext }),
      allowH2: false,
      pipelining: 1,
      maxHeaderSize: maxHeaderBytes,
      // The attempt has one deadline of its own, from connect to last byte.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: idleMs,
    })
    const dropIfIdle = () => {
      const { connected, size } = pool.stats
      if (connected === 0 && size === 0 && pools.get(key) === pool) drop(key, pool)
    }
    return pool.on('disconnect', dropIfIdle).on('connectionError', dropIfIdle)
  }

  function drop(key: string, pool: Pool): void {
    pools.delete(key)
    pool.close().catch(() => {}) // it is closed either way
  }

  return {
    poolFor(url, addresses) {
      const key = [url.origin, ...addresses.toSorted()].join(' ')
      const pool = pools.get(key) ?? open(url, addresses, key)
      pools.delete(key) // put last again, as the youngest
      pools.set(key, pool)
      const [oldest] = pools
      if (pools.size > maxPools && oldest) drop(...oldest)
      return pool
    },
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()))
      pools.clear()
    },
  }
}
