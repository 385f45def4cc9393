import type { FastifyRateLimitStore, FastifyRateLimitStoreCtor } from '@fastify/rate-limit'
import type { FastifyBaseLogger } from 'fastify'
import fp from 'fastify-plugin'
import { type Count, createLocalCounts, openSharedCounts } from '#src/http/rate-limit-store.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Where rate limits of that name are counted, for all processes together; undefined when each
     * counts for itself.
     */
    sharedLimitStore(name: string): FastifyRateLimitStoreCtor | undefined
  }
}

type CountRequest = (key: string, windowMs: number) => Promise<Count>

/**
 * With `redisUrl` all processes share the counts of their rate limits. While Redis is away each
 * counts for itself, which is said once, and once again when it is back.
 */
export default fp<{ redisUrl: string | null }>(
  async function rateLimitStore(app, { redisUrl }) {
    if (redisUrl === null) {
      app.decorate('sharedLimitStore', () => undefined)
      return
    }
    const shared = await openSharedCounts(redisUrl)
    const countRequest = withFallback(shared.count, createLocalCounts(), app.log)
    app.decorate('sharedLimitStore', (name) => storeOf(name, countRequest))
    app.addHook('onClose', async function closeSharedCounts() {
      shared.close()
    })
  },
  { name: 'rate-limit-store', fastify: '5.x' },
)

function withFallback(
  shared: CountRequest,
  local: (key: string, windowMs: number) => Count,
  log: FastifyBaseLogger,
): CountRequest {
  let away = false
  return async (key, windowMs) => {
    try {
      const count = await shared(key, windowMs)
      if (away) log.info('rate limits are counted in Redis again')
      away = false
      return count
    } catch (error) {
      if (!away) log.warn({ err: error }, 'Redis is away: each process counts for itself')
      away = true
      return local(key, windowMs)
    }
  }
}

/** The library makes its store by itself, from a class. */
function storeOf(name: string, countRequest: CountRequest): FastifyRateLimitStoreCtor {
  return class Store implements FastifyRateLimitStore {
    incr(...[key, done, windowMs]: Parameters<FastifyRateLimitStore['incr']>): void {
      countRequest(`${name}:${key}`, windowMs).then((count) => done(null, count), done)
    }
    child(): FastifyRateLimitStore {
      return new Store()
    }
  }
}
