import fastifyCookie from '@fastify/cookie'
import fastifySession from '@fastify/session'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { SessionCaller } from '#src/auth/sessions/caller.ts'
import { endSession, findSession, type SessionLimits } from '#src/auth/sessions/sessions.ts'
import { randomToken } from '#src/crypto/hash.ts'
import type { SystemDatabase } from '#src/db/system-database.ts'

export const cookieName = 'sid'

declare module 'fastify' {
  interface Session {
    /** The row exists and is live. */
    live?: boolean
    /** Null until sign-in. */
    caller?: SessionCaller | null
    /** Set where the answer must carry the cookie. */
    announced?: boolean
  }
  interface FastifyRequest {
    /** The id the next regenerated session gets: its row is written before the cookie is. */
    nextSessionId: string | null
    /** Has the answer carry the cookie of a session that is new to the browser. */
    announceSession(): void
    /** Makes the browser's session the one whose row was just written under `cookieId`. */
    adoptSession(cookieId: string): Promise<void>
  }
  interface FastifyReply {
    clearSessionCookie(): FastifyReply
  }
}

type Options = SessionLimits & { secrets: readonly string[]; secureCookie: boolean }

/**
 * The `sid` cookie over rows in the database. Rows are written by domain functions, in their own
 * transactions; the store only reads and ends them, so a request in flight can never bring back a
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
      return this.clearCookie(cookieName, cookie)
    })
    app.addHook('onRequest', ignoreDoubledCookie)
    await app.register(fastifySession, {
      secret: [...secrets],
      cookieName,
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

/** Two cookies of one name mean that somebody else planted one: neither is believed. */
async function ignoreDoubledCookie(request: FastifyRequest): Promise<void> {
  const pairs = request.headers.cookie?.split(';') ?? []
  const sids = pairs.filter((pair) => pair.split('=', 1)[0]?.trim() === cookieName)
  if (sids.length > 1) delete request.cookies[cookieName]
}

async function adoptSession(this: FastifyRequest, cookieId: string): Promise<void> {
  this.nextSessionId = cookieId
  await this.session.regenerate()
  this.announceSession()
}

/** The cookie would be left out silently, and every sign-in end in `bad state`: said here instead. */
function announceSession(this: FastifyRequest): void {
  if (this.session.cookie.secure === true && this.protocol !== 'https') {
    throw new Error(
      'BASE_URL is https but the request came as http, so no session cookie can be set: name the TLS proxy in TRUST_PROXY.',
    )
  }
  this.session.announced = true
}
