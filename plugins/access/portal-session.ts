import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { equalBytes, sha256 } from '#src/crypto/hash.ts'
import { isCrossOrigin, isSafeMethod } from '#src/http/headers/cross-origin.ts'
import {
  type PortalCookie,
  portalCookie,
  portalCookieValue,
  readPortalCookie,
} from '#src/http/headers/portal-cookie.ts'
import { Problem } from '#src/http/problems.ts'
import { formTokenField } from '#src/pages/kit/layout.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** Gives the browser the session that a link has opened. */
    setPortalCookie(cookie: PortalCookie): FastifyReply
  }
}

type Options = {
  /** PORTAL_FRAME_ORIGINS. */
  frameOrigins: readonly string[]
  sessionSeconds: number
}

/**
 * The portal: its requests are judged by the cookie of the portal alone, whatever else they came with, and
 * only the pages of this scope may be framed, by the origins of the setting. The cookie is sent from inside
 * a frame on another site, so SameSite protects no form: each has a token that only a page of the session
 * contains. Where the browser says that a request comes from elsewhere it is refused as well.
 */
export default fp<Options>(
  async function portalSession(app, { frameOrigins, sessionSeconds }) {
    app.decorateReply('setPortalCookie', setPortalCookie)
    app.addHook('onRequest', async function readPortal(request, reply) {
      allowFrames(reply, frameOrigins)
      const cookie = readPortalCookie(request.cookies[portalCookie])
      request.credential = cookie && { kind: 'portal', hash: sha256(cookie.secret) }
      request.credentialFault = isFromElsewhere(request) ? new Problem('cross-origin') : null
      request.portal = {
        theme: cookie?.theme ?? null,
        formToken: cookie === null ? '' : formTokenOf(cookie),
        tenantName: null,
      }
    })
    app.addHook('preValidation', requireFormToken)
    app.setErrorHandler(function tellEnd(error) {
      const isOver = error instanceof Problem && deadCodes.has(error.code)
      throw isOver ? new Problem('portal-session-ended') : error
    })

    function setPortalCookie(this: FastifyReply, cookie: PortalCookie): FastifyReply {
      return this.setCookie(portalCookie, portalCookieValue(cookie), {
        path: '/',
        httpOnly: true,
        secure: true,
        sameSite: 'none',
        partitioned: true,
        maxAge: sessionSeconds,
      })
    }
  },
  { name: 'portal-session', fastify: '5.x', dependencies: ['session', 'credential', 'pages'] },
)

const deadCodes: ReadonlySet<string> = new Set(['unauthenticated', 'invalid-token'])

/** X-Frame-Options cannot name origins; browsers prefer frame-ancestors to it, so it only repeats `none`. */
function allowFrames(reply: FastifyReply, origins: readonly string[]): void {
  reply.header('referrer-policy', 'no-referrer')
  if (origins.length === 0) return
  const policy = String(reply.getHeader('content-security-policy'))
  reply.removeHeader('x-frame-options')
  reply.header(
    'content-security-policy',
    policy.replace("frame-ancestors 'none'", `frame-ancestors ${origins.join(' ')}`),
  )
}

/** By Sec-Fetch-Site alone: without a referrer, browsers send `Origin: null` with our own forms. */
function isFromElsewhere({ method, headers }: FastifyRequest): boolean {
  // Also without a cookie: opening a link sets one.
  const { 'sec-fetch-site': site, cookie = '' } = headers
  const sent = { cookie, ...(site !== undefined && { 'sec-fetch-site': site }) }
  return isCrossOrigin({ isSafe: isSafeMethod(method), headers: sent }, '')
}

function formTokenOf({ secret }: Pick<PortalCookie, 'secret'>): string {
  return sha256(`form of the portal ${secret}`).toString('base64url')
}

/** Takes the token out of the body, so that a schema has only the fields of its form. */
async function requireFormToken(request: FastifyRequest): Promise<void> {
  const { method, routeOptions, body, portal } = request
  if (isSafeMethod(method) || typeof routeOptions.config.access !== 'object') return
  const { [formTokenField]: sent, ...fields }: Record<string, unknown> = { ...Object(body) }
  request.body = body === undefined || body === null ? body : fields
  const expected = Buffer.from(portal?.formToken ?? '')
  if (typeof sent === 'string' && equalBytes(Buffer.from(sent), expected)) return
  const detail = 'The form has no token of this session. Reload the page, then send it again.'
  throw new Problem('cross-origin', { detail })
}
