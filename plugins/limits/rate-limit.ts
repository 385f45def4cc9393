import fastifyRateLimit, {
  type FastifyRateLimitStore,
  type FastifyRateLimitStoreCtor,
  normalizeIP,
} from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { type Credential, isBearer } from '#src/auth/sessions/enter.ts'
import type { RateLimit } from '#src/config/parse.ts'
import { sha256 } from '#src/crypto/hash.ts'
import { clientAddressOf } from '#src/http/headers/client-address.ts'
import { Problem } from '#src/http/problems.ts'
import {
  type Count,
  createBreaker,
  createLocalCounts,
  openSharedCounts,
} from '#src/http/rate-limit-store.ts'
import type { Metrics } from '#src/observability/metrics.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The store of the rate limits of that name, which all scopes share, and with Redis all processes. */
    sharedLimitStore(name: string): FastifyRateLimitStoreCtor
  }
  interface FastifyRequest {
    /** Counts a credential that turned out not to be live. Only where sessions are limited. */
    countDeadCredential?(): Promise<void>
  }
}

/**
 * With `redisUrl`, all processes share their rate-limit counts. While Redis is unavailable or hangs,
 * every process counts on its own; the log has one line when that begins and one when it ends, and
 * `isShared` is 0 meanwhile.
 */
export const rateLimitStore = fp<{
  redisUrl: string | null
  isShared?: Metrics['http']['sharedLimits']
}>(
  async function rateLimitStore(app, { redisUrl, isShared }) {
    if (redisUrl === null) {
      const count = createLocalCounts()
      app.decorate('sharedLimitStore', (name) => storeOf(name, async (...key) => count(...key)))
      return
    }
    const shared = await openSharedCounts(redisUrl)
    isShared?.set(1)
    const breaker = createBreaker({
      shared,
      local: createLocalCounts(),
      onChange(responds, error) {
        isShared?.set(responds ? 1 : 0)
        if (responds) app.log.info('rate limits are counted in Redis again')
        else
          app.log.warn({ err: error }, 'Redis is unavailable: rate limits are counted per process')
      },
    })
    app.decorate('sharedLimitStore', (name) => storeOf(name, breaker.count))
    app.addHook('onClose', async function closeSharedCounts() {
      breaker.close()
      shared.close()
    })
  },
  { name: 'rate-limit-store', fastify: '5.x' },
)

type Options = {
  /** Scopes with the same name share their counts. */
  name: 'sign-in' | 'webhooks' | 'logout' | 'api' | 'verify' | 'publish' | 'unknown'
  limit: RateLimit
  by: 'address' | 'session' | 'address-and-session'
  /** Also counts requests that could not be parsed, for the address that sent them. */
  countsUnparsed?: boolean
}

/**
 * Limits every route of its scope, and the hooks registered after it (such as the 401 for a missing
 * credential). Requests are counted
 * - `address`: per IP address, for IPv6 per /64 prefix, the size of one subscriber's network;
 * - `session`: per session, API token or service token, per address without either: also for a
 *   credential that was rejected, such as a session from another site, and for the session of a browser
 *   that has not signed in. A credential that turns out not to be live counts for its address as well,
 *   because tokens can be made up, and from then on for its address alone;
 * - `address-and-session`: per address and per browser session, with a limit on each.
 */
export default fp<Options>(
  async function rateLimit(app, { name, limit, by, countsUnparsed = false }) {
    if (limit === 'off') return
    if (app.hasDecorator('rateLimit')) throw new Error('Rate-limited scopes must not be nested.')
    const store = app.sharedLimitStore(name)
    const dead = new Set<string>()
    await app.register(fastifyRateLimit, {
      store,
      global: false,
      max: limit.max,
      timeWindow: limit.seconds * 1000,
      keyGenerator: by === 'session' ? (request) => bySession(request, dead) : byAddress,
    })
    const refuseAddress = by === 'session' ? limitDeadCredentials(app, name, limit, dead) : null
    const count = app.createRateLimit()
    app.addHook('onRequest', async function limitRate(request, reply) {
      // First, so that made-up tokens of a refused address take no room in the store.
      refuseAddress?.(request, reply)
      const counted = await count(request)
      if (counted.isAllowed) return
      describeLimit(reply, name, limit, counted)
      if (counted.isExceeded) throw tooManyRequests(name, limit, counted.ttl)
    })
    if (by === 'address-and-session') limitBrowserSession(app, name, limit)
    if (countsUnparsed) countUnparsed(app, name, limit)
  },
  { name: 'rate-limit', fastify: '5.x', dependencies: ['rate-limit-store'] },
)

const maxAddresses = 10_000 // about 1 MB
const maxDead = 10_000

/**
 * Counts dead credentials for their address. Once they exceed the limit, no token from there is
 * looked up until the window ends. Sessions still are, because their ids are signed by us.
 * @param dead gets the keys of credentials that were found dead, the newest `maxDead`
 * @returns refuses a request with a token from such an address
 */
function limitDeadCredentials(app: FastifyInstance, name: string, limit: Quota, dead: Set<string>) {
  const count = app.createRateLimit({ keyGenerator: byAddress })
  const refusedUntil = new Map<string, number>()

  app.decorateRequest('countDeadCredential', async function countDeadCredential() {
    const { credential } = this
    if (credential === null || countsForAddress(credential, dead)) return
    const [first] = dead
    if (dead.size >= maxDead && first !== undefined) dead.delete(first)
    dead.add(keyOf(credential))
    const counted = await count(this)
    if (counted.isAllowed || !counted.isExceeded) return
    const address = byAddress(this)
    const [oldest] = refusedUntil.keys()
    if (refusedUntil.size >= maxAddresses && oldest !== undefined) refusedUntil.delete(oldest)
    refusedUntil.set(address, performance.now() + counted.ttl)
  })
  return function refuseAddress(request: FastifyRequest, reply: FastifyReply): void {
    if (!isBearer(request.credential)) return
    const ttl = (refusedUntil.get(byAddress(request)) ?? 0) - performance.now()
    if (ttl <= 0) return
    describeLimit(reply, name, limit, { remaining: 0, ttl })
    throw tooManyRequests(name, limit, ttl)
  }
}

/** Counts per browser session with a cookie of ours, anonymous sessions included. */
function limitBrowserSession(app: FastifyInstance, name: string, limit: Quota): void {
  const count = app.createRateLimit({ keyGenerator: byBrowserSession })
  app.addHook('onRequest', async function limitSessionRate(request, reply) {
    if (request.session.fromCookie !== true) return
    const counted = await count(request)
    if (counted.isAllowed) return
    describeLimit(reply, `${name}-session`, limit, counted)
    if (counted.isExceeded) throw tooManyRequests(`${name}-session`, limit, counted.ttl)
  })
}

/** Counts requests that could not be parsed. They are refused in any case, so the count only shows in the headers. */
function countUnparsed(app: FastifyInstance, name: string, limit: Quota): void {
  const count = app.createRateLimit()
  app.addParserHeaders(async ({ address }) => {
    const sender = { ip: address, routeOptions: {} } as FastifyRequest
    const counted = await count(sender)
    return counted.isAllowed ? {} : limitHeaders(name, limit, counted)
  })
}

type Quota = Exclude<RateLimit, 'off'>

/**
 * Adds the limit and what is left of it to `RateLimit-Policy` and `RateLimit`
 * (draft-ietf-httpapi-ratelimit-headers-10): quota, window, rest, and seconds until the window ends.
 */
function describeLimit(reply: FastifyReply, ...described: Parameters<typeof limitHeaders>): void {
  for (const [name, item] of Object.entries(limitHeaders(...described))) addItem(reply, name, item)
}

function limitHeaders(
  policy: string,
  { max, seconds }: Quota,
  { remaining, ttl }: { remaining: number; ttl: number },
): Record<string, string> {
  return {
    'ratelimit-policy': `"${policy}";q=${max};w=${seconds}`,
    ratelimit: `"${policy}";r=${remaining};t=${Math.ceil(ttl / 1000)}`,
  }
}

/** Adds an item to a header that is a list (RFC 9651). */
function addItem(reply: FastifyReply, name: string, item: string): void {
  const present = reply.getHeader(name)
  reply.header(name, present === undefined ? item : `${present}, ${item}`)
}

function tooManyRequests(name: string, { max, seconds }: Quota, ttlMs: number): Problem {
  const retryAfterSeconds = Math.ceil(ttlMs / 1000)
  const detail = `The rate limit "${name}" is reached, of ${max} requests in ${seconds} s, as RateLimit-Policy says.`
  return new Problem('too-many-requests', { detail, retryAfterSeconds, reason: name })
}

function byAddress(request: FastifyRequest): string {
  return normalizeIP(clientAddressOf(request))
}

function bySession(request: FastifyRequest, dead: ReadonlySet<string>): string {
  const { credential } = request
  if (credential === null || countsForAddress(credential, dead)) return byAddress(request)
  return keyOf(credential)
}

function countsForAddress(credential: Credential, dead: ReadonlySet<string>): boolean {
  return credential.isAnonymous === true || dead.has(keyOf(credential))
}

/** Hashed once more, because the hash opens a transaction and the store may be shared. */
function keyOf({ hash }: Credential): string {
  return sha256(hash).toString('base64url')
}

/** Hashed, because the session id is a credential and the store may be shared. */
function byBrowserSession(request: FastifyRequest): string {
  return sha256(request.session.sessionId).toString('base64url')
}

/** @fastify/rate-limit expects a class and creates the instances itself. */
function storeOf(
  name: string,
  countRequest: (key: string, windowMs: number) => Promise<Count>,
): FastifyRateLimitStoreCtor {
  return class Store implements FastifyRateLimitStore {
    incr(...[key, done, windowMs]: Parameters<FastifyRateLimitStore['incr']>): void {
      countRequest(`${name}:${key}`, windowMs).then((count) => done(null, count), done)
    }
    child(): FastifyRateLimitStore {
      return new Store()
    }
  }
}
