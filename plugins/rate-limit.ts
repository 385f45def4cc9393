import fastifyRateLimit, { normalizeIP } from '@fastify/rate-limit'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { Refusal } from '#src/errors.ts'
import type { RateLimit } from '#src/setting-readers.ts'

/**
 * Limits every route of the scope it is registered in, counted per address (of IPv6 the /64 that
 * one subscriber has) or, once a session or token is known, per session or token. What is registered after it, the
 * refusal of a missing identity included, is behind the limit.
 */
export default fp<{ limit: RateLimit; by: 'address' | 'session' }>(
  async function rateLimit(app, { limit, by }) {
    if (limit === 'off') return
    if (app.hasDecorator('rateLimit')) throw new Error('A limited scope stands in a limited scope.')
    await app.register(fastifyRateLimit, {
      global: false,
      max: limit.max,
      timeWindow: limit.seconds * 1000,
      keyGenerator: by === 'session' ? bySession : byAddress,
      errorResponseBuilder: (_request, { ttl }) =>
        new Refusal('too-many-requests', { retryAfterSeconds: Math.ceil(ttl / 1000) }),
    })
    const count = app.rateLimit()
    app.addHook('onRequest', async function limitRate(request, reply) {
      await count.call(app, request, reply)
    })
  },
  { name: 'rate-limit', fastify: '5.x' },
)

function byAddress(request: FastifyRequest): string {
  return normalizeIP(request.ip)
}

function bySession(request: FastifyRequest): string {
  const { session, tokenCaller } = request
  return tokenCaller?.tokenId ?? session?.caller?.sessionId ?? byAddress(request)
}
