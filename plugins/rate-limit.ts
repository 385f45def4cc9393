import fastifyRateLimit from '@fastify/rate-limit'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { Refusal } from '#src/errors.ts'
import type { RateLimit } from '#src/setting-readers.ts'

/**
 * Limits every route of the scope it is registered in, counted per address or, once a session is
 * known, per session.
 */
export default fp<{ limit: RateLimit; by: 'address' | 'session' }>(
  async function rateLimit(app, { limit, by }) {
    if (limit === 'off') return
    await app.register(fastifyRateLimit, {
      max: limit.max,
      timeWindow: limit.seconds * 1000,
      keyGenerator: by === 'session' ? bySession : (request) => request.ip,
      errorResponseBuilder: (_request, { ttl }) =>
        new Refusal('too-many-requests', { retryAfterSeconds: Math.ceil(ttl / 1000) }),
    })
  },
  { name: 'rate-limit', fastify: '5.x' },
)

function bySession(request: FastifyRequest): string {
  return request.session?.caller?.sessionId ?? request.ip
}
