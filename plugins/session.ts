import fastifyCookie from '@fastify/cookie'
import fastifySession from '@fastify/session'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { SessionCaller } from '#src/auth/sessions/caller.ts'
import { endSession, findSession, type SessionLimits } from '#src/auth/sessions/sessions.ts'
import { randomToken } from '#src/crypto/hash.ts'
import type { SystemDatabase } from '#src/db/system-database.ts'
import { countSessionCookies, sessionCookie } from '#src/http/session-cookie.ts'

declare module 'fastify' {
  interface Session {
    /** True if the session has a row in the database that has not expired. */
    live?: boolean
    /** Null until sign-in. */
    caller?: SessionCaller | null
    /** True if the response must set the cookie. */
    announced?: boolean
  }
  interface FastifyRequest {
    /** Id for the next regenerated session, whose row is written before the cookie is set. */
    nextSessionId: string | null
    /** Makes the response set the cookie of a new session. */
    announceSession(): void
    /** Switches the browser to the session whose row was just written under `cookieId`. */
    adoptSession(cookieId: string): Promise<void>
  }
  interface FastifyReply {
    clearSessionCookie(): FastifyReply
  }
}

type Options = SessionLimits & { secrets: readonly string[]; secureCookie: boolean }

/**
 * The `sid` cookie refers to a session row in the database. Domain functions write the rows in their
 * own transactions; this store only reads and ends them, so a concurrent request cannot restore a
 * session that has ended.
 */
export default fp<Options>(
  async function session(app, { secrets, secureCookie, idleSeconds, absoluteSeconds }) {
    const cookie = { httpOnly: true, secure: secureCookie, sameSite: 'lax', path: '/' } as const
    await app.register(fastifyCookie)
    app.decorateRequest('nextSessionId', null)
    app.decorateRequest('announceSession', announceSession)
    app.decorateRequest('adoptSession', adoptSession)
    app.decorateReply('clearSessionCookie', function clearSessionCookie(this: FastifyReply) {
      return this.clearCookie(sessionCookie, cookie)
    })
    app.addHook('onRequest', ignoreDoubledCookie)
    await app.register(fastifySession, {
      secret: [...secrets],
      cookieName: sessionCookie,
      cookie: { ...cookie, maxAge: absoluteSeconds * 1000 },
      saveUninitialized: false,
      rolling: false,
      idGenerator: (request) => request?.nextSessionId ?? randomToken(),
      store: sessionStore(app.systemDb, { idleSeconds, absoluteSeconds }),
    })
  },
  { name: 'session', fastify: '5.x', dependencies: ['database'] },
)

type Store = NonNullable<Parameters<typeof fastifySession>[1]['store']>

function sessionStore(systemDb: SystemDatabase, limits: SessionLimits): Store {
  return {
    get(cookieId, callback) {
      findSession(systemDb, cookieId, limits).then(
        (found) =>
          callback(null, found === null ? null : ({ live: true, caller: found.caller } as never)),
        (error) => callback(error),
      )
    },
    set(_cookieId, _session, callback) {
      callback()
    },
    destroy(cookieId, callback) {
      endSession(systemDb, cookieId).then(
        () => callback(),
        (error) => callback(error),
      )
    },
  }
}

/** Duplicate session cookies may have been set by another site, so both are ignored. */
async function ignoreDoubledCookie(request: FastifyRequest): Promise<void> {
  if (countSessionCookies(request.headers.cookie) > 1) delete request.cookies[sessionCookie]
}

async function adoptSession(this: FastifyRequest, cookieId: string): Promise<void> {
  this.nextSessionId = cookieId
  await this.session.regenerate()
  this.announceSession()
}

/** Fails early: @fastify/session silently omits a secure cookie on http, and sign-in would fail later. */
function announceSession(this: FastifyRequest): void {
  if (this.session.cookie.secure === true && this.protocol !== 'https') {
    throw new Error(
      'BASE_URL is https but the request came as http, so no session cookie can be set: name the TLS proxy in TRUST_PROXY.',
    )
  }
  this.session.announced = true
}
