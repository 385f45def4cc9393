import fastifyCookie, { Signer } from '@fastify/cookie'
import fastifySession from '@fastify/session'
import type { FastifyReply, FastifyRequest, Session } from 'fastify'
import fp from 'fastify-plugin'
import type { Caller, Principal } from '#src/access/caller.ts'
import { requirePerson } from '#src/access/policy.ts'
import type { AfterLeaving } from '#src/auth/members/leave.ts'
import {
  type Credential,
  enterCredential,
  type Person,
  recordUse,
} from '#src/auth/sessions/enter.ts'
import { createLatestRows } from '#src/auth/sessions/latest-rows.ts'
import { isAnonymousId, isOverdue, newAnonymousId } from '#src/auth/sessions/session-id.ts'
import type { QuotaConfig } from '#src/config/parse.ts'
import { sha256 } from '#src/crypto/hash.ts'
import { causeSettings } from '#src/db/cause.ts'
import { type Entry, refine, withSettings } from '#src/db/entry.ts'
import { toQuotaSetting } from '#src/db/quota.ts'
import {
  countSessionCookies,
  rememberVerified,
  sessionCookie,
} from '#src/http/headers/session-cookie.ts'
import { uuidForm } from '#src/http/schemas.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The id in the path is the tenant that an app names. */
    namesTenant?: true
  }
  interface Session {
    /** The cookie carried this id, signed with one of our secrets. */
    fromCookie?: boolean
    /** Set where the response must carry the cookie. */
    announced?: boolean
  }
  interface FastifyRequest {
    /** The session of a verified cookie as a credential; null without one. Called once. */
    readSessionCookie(): Credential | null
    /** Opens a transaction with the credential; the facts are null if it is not live. */
    identify(credential: Credential): Entry<Principal | null>
    /** The tenant that the path of an app's request names; null without one. */
    readonly namedTenantId: string | null
    /** What every page shows of who is asking; null if they have not entered, or for no page. */
    person: Person | null
    /** Who is asking, as the latest transaction found them; null until one was entered. */
    enteredCaller: Principal | null
    /**
     * For routes that anyone may call: opens a transaction as the visitor; the facts are null for one
     * who is not signed in. Null if the request has no credential.
     */
    readonly visitorEntry: Entry<Caller | null> | null
    /** Who is signed in, for routes that anyone may call. */
    findCaller(): Promise<Caller | null>
    /**
     * Looks up what every page shows of who is signed in, for an error page. Leaves it unknown without
     * a session, and if `mostErrorPages` are looked up already.
     */
    enterForErrorPage(): Promise<void>
    /** The id the next regenerated session gets: its row is written before the cookie is. */
    nextSessionId: string | null
    /** Makes the response carry the cookie of a session that is new to the browser. */
    announceSession(): void
    /** Switches the browser to the session whose row was just written under `cookieId`. */
    adoptSession(cookieId: string): Promise<void>
  }
  interface FastifyReply {
    clearSessionCookie(): FastifyReply
    /** Renews or clears the browser's cookie, as its session was renewed or ended. */
    followSession(after: AfterLeaving): Promise<void>
  }
}

type Options = {
  idleSeconds: number
  absoluteSeconds: number
  secrets: readonly string[]
  secureCookie: boolean
  operators: ReadonlySet<string>
  quota: QuotaConfig
  eventRetentionDays: number
}

// Error pages whose viewer is looked up at the same time: requests beyond a rate limit get one too.
const mostErrorPages = 2

/**
 * The `sid` cookie. `@fastify/session` signs and verifies ids; whether an id is live, and whose, the
 * database says when the credential opens a transaction. Rows are written by domain functions, so a
 * request in flight can never bring back a session that has ended.
 */
export default fp<Options>(
  async function session(app, options) {
    const { secrets, secureCookie, absoluteSeconds, idleSeconds, operators } = options
    const latest = createLatestRows()
    const budgets = toQuotaSetting(options.quota, options.eventRetentionDays)
    const cookie = { httpOnly: true, secure: secureCookie, sameSite: 'lax', path: '/' } as const
    await app.register(fastifyCookie)
    // BASE_URL decides, because proxies forward the scheme in many forms, or none. `@fastify/session`
    // would leave out the cookie for any text but `https`.
    app.decorateRequest('protocol', { getter: () => (secureCookie ? 'https' : 'http') })
    app.decorateRequest('enteredCaller', null)
    app.decorateRequest('person', null)
    app.decorateRequest('namedTenantId', { getter: namedTenantOf })
    app.decorateRequest('identify', identify)
    app.decorateRequest('visitorEntry', { getter: visitorEntryOf })
    app.decorateRequest('findCaller', async function findCaller(this: FastifyRequest) {
      return this.visitorEntry && app.db.read(this.visitorEntry)
    })
    app.decorateRequest('enterForErrorPage', enterForErrorPage)
    app.decorateRequest('nextSessionId', null)
    app.decorateRequest('announceSession', announceSession)
    app.decorateRequest('adoptSession', adoptSession)
    app.decorateReply('clearSessionCookie', function clearSessionCookie(this: FastifyReply) {
      return this.clearCookie(sessionCookie, cookie)
    })
    app.decorateReply('followSession', followSession)
    await app.register(fastifySession, {
      secret: rememberVerified(new Signer([...secrets])),
      cookieName: sessionCookie,
      cookie: { ...cookie, maxAge: absoluteSeconds * 1000 },
      saveUninitialized: false,
      rolling: false,
      idGenerator: (request) => request?.nextSessionId ?? newAnonymousId(),
      store,
    })
    app.decorateRequest('readSessionCookie', function readCookie(this: FastifyRequest) {
      return readSessionCookie(this, absoluteSeconds)
    })

    let errorPages = 0
    async function enterForErrorPage(this: FastifyRequest): Promise<void> {
      const { credential } = this
      if (credential?.kind !== 'session' || credential.isAnonymous) return
      if (errorPages >= mostErrorPages) return
      errorPages++
      await app.db
        .read(visitorEntryWith(this, identifyWith(this, credential, true)))
        .finally(() => errorPages--)
    }

    function identify(this: FastifyRequest, credential: Credential): Entry<Principal | null> {
      return identifyWith(this, credential, isPage(this))
    }

    function identifyWith(
      request: FastifyRequest,
      credential: Credential,
      forPage: boolean,
    ): Entry<Principal | null> {
      const entry = enterCredential(credential, {
        idleSeconds,
        operators,
        namedTenantId: request.namedTenantId,
        latest,
        ...(forPage && {
          onPerson: (person: Person) => {
            request.person = person
          },
        }),
        onStale: (used) => {
          recordUse(app.systemDb, used).catch((error) =>
            request.log.warn({ err: error }, 'the last use of a credential could not be recorded'),
          )
        },
      })
      return withSettings(entry, () => ({
        'app.quota': budgets,
        ...causeSettings({ requestId: request.id }, request.traceparent),
      }))
    }
  },
  { name: 'session', fastify: '5.x', dependencies: ['database', 'tracing'] },
)

function namedTenantOf(this: FastifyRequest): string | null {
  const { id } = Object(this.params)
  const isNamed = this.routeOptions.config.namesTenant === true && uuidForm.test(id)
  return isNamed ? id : null
}

function isPage({ routeOptions }: FastifyRequest): boolean {
  const { url = '' } = routeOptions
  return url === '/' || url.startsWith('/app/')
}

function visitorEntryOf(this: FastifyRequest): Entry<Caller | null> | null {
  const { credential } = this
  return credential && visitorEntryWith(this, this.identify(credential))
}

function visitorEntryWith(request: FastifyRequest, identified: Entry<Principal | null>) {
  return refine<Principal | null, Caller | null>(identified, (caller) => {
    const person = caller && requirePerson(caller)
    request.enteredCaller = person
    return person
  })
}

type Store = NonNullable<Parameters<typeof fastifySession>[1]['store']>

/** Writes nothing: domain functions write and end the rows of sessions in their transactions. */
const store: Store = {
  get: (_cookieId, callback) =>
    callback(null, { fromCookie: true, isModified: isAnnounced } as never),
  set: (_cookieId, _session, callback) => callback(),
  destroy: (_cookieId, callback) => callback(),
}

/**
 * Whether the response must carry the cookie of a session that came with one. Nothing else changes such a
 * session, so the plugin need not hash it to find out.
 */
function isAnnounced(this: Session): boolean {
  return this.announced === true
}

/**
 * Two cookies of this name mean that someone else planted one: neither counts, and the request gets a
 * new session. The same for an id that is too old to be live. `@fastify/session` clears the browser's
 * cookie if it is not byte for byte the one it would sign now. That would sign people out after a
 * rotation of secrets, and a late response to an older id would clear a newer cookie. Replacing the
 * parsed cookie by what the plugin expects prevents it.
 */
function readSessionCookie(request: FastifyRequest, absoluteSeconds: number): Credential | null {
  const isDoubled = countSessionCookies(request.headers.cookie) > 1
  const isPast = isOverdue(request.session.sessionId, absoluteSeconds)
  if (isDoubled || isPast) request.server.decryptSession('', request, () => {})
  const { session, cookies } = request
  if (session.fromCookie !== true) {
    delete cookies[sessionCookie]
    return null
  }
  cookies[sessionCookie] = session.encryptedSessionId
  const hash = sha256(session.sessionId)
  return { kind: 'session', hash, isAnonymous: isAnonymousId(session.sessionId) }
}

async function adoptSession(this: FastifyRequest, cookieId: string): Promise<void> {
  this.nextSessionId = cookieId
  await this.session.regenerate()
  this.announceSession()
}

async function followSession(this: FastifyReply, after: AfterLeaving): Promise<void> {
  if (after.session === 'moved') await this.request.adoptSession(after.newCookieId)
  if (after.session === 'ended') {
    await this.request.session.destroy()
    this.clearSessionCookie()
  }
}

/**
 * Makes the response carry the cookie.
 * @throws for a Secure cookie without a proxy: nothing would end TLS, the browser would ignore the
 *   cookie, and sign-ins would end in `bad state`
 */
function announceSession(this: FastifyRequest): void {
  if (this.session.cookie.secure === true && this.ips === undefined) {
    throw new Error(
      'BASE_URL is https, but TRUST_PROXY names no proxy that ends TLS, so browsers would ignore the session cookie.',
    )
  }
  this.session.announced = true
}
