import fastifyRateLimit, { normalizeIP } from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { RateLimit } from '#src/config/parse.ts'
import { sha256 } from '#src/crypto/hash.ts'
import { Problem } from '#src/http/problems.ts'

type Options = {
  /** Scopes with limits of one name share their counts where counts are shared at all. */
  name: 'sign-in' | 'webhooks' | 'api'
  limit: RateLimit
  by: 'address' | 'session' | 'address-and-session'
}

/**
 * Limits every route of the scope it is registered in, counted per address (of IPv6 the /64 that
 * one subscriber has), once a session or token is known per session or token, or per address and
 * session at once: then either count can be the one that is used up. What is registered after it,
 * the refusal of a missing identity included, is behind the limit.
 */
export default fp<Options>(
  async function rateLimit(app, { name, limit, by }) {
    if (limit === 'off') return
    if (app.hasDecorator('rateLimit')) throw new Error('A limited scope stands in a limited scope.')
    const store = app.sharedLimitStore(name)
    await app.register(fastifyRateLimit, {
      ...(store && { store }),
      global: false,
      max: limit.max,
      timeWindow: limit.seconds * 1000,
      keyGenerator: by === 'session' ? bySession : byAddress,
      errorResponseBuilder: (_request, { ttl }) => tooMany(name, ttl),
    })
    const count = app.rateLimit()
    app.addHook('onRequest', async function limitRate(request, reply) {
      await count.call(app, request, reply)
    })
    if (by === 'address-and-session') limitBrowserSession(app, name)
  },
  { name: 'rate-limit', fastify: '5.x', dependencies: ['rate-limit-store'] },
)

/** A count of its own per live session, anonymous ones included; without one nothing to count. */
function limitBrowserSession(app: FastifyInstance, name: string): void {
  const count = app.createRateLimit({ keyGenerator: byBrowserSession })
  app.addHook('onRequest', async function limitSessionRate(request) {
    if (request.session.live !== true) return
    const counted = await count(request)
    if (!counted.isAllowed && counted.isExceeded) throw tooMany(name, counted.ttl)
  })
}

function tooMany(limit: string, ttlMs: number): Problem {
  const retryAfterSeconds = Math.ceil(ttlMs / 1000)
  return new Problem('too-many-requests', { retryAfterSeconds, reason: limit })
}

function byAddress(request: FastifyRequest): string {
  return normalizeIP(request.ip)
}

function bySession(request: FastifyRequest): string {
  const { session, tokenCaller } = request
  return tokenCaller?.tokenId ?? session?.caller?.sessionId ?? byAddress(request)
}

/** Hashed: the id in the cookie opens the session, and a store of counts may be shared. */
function byBrowserSession(request: FastifyRequest): string {
  return sha256(request.session.sessionId).toString('base64url')
}
