import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import { draftCookie, draftSeconds, sealDraft, unsealDraft } from '#src/http/form-draft.ts'
import { acceptsHtml, isForm } from '#src/http/params.ts'
import { Problem, type Resumption } from '#src/http/problems.ts'
import { isPagePath, pageOfForm, pathPattern } from '#src/http/return-path.ts'
import { fillForm } from '#src/pages/form-draft.ts'
import { signInPath } from '#src/pages/sign-in.ts'
import { type Clock, unixSeconds } from '#src/runtime/clock.ts'
import { readBody } from '#src/runtime/response-body.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * The path if a sign-in may return to it: a path of SIGN_IN_RETURN_TO or one of our own pages.
     * Null for anything else.
     */
    allowedReturn(path: string | undefined): string | null
  }
  interface FastifyRequest {
    /** The response redirects to sign-in, so it needs no permission. */
    redirectedToSignIn: boolean
  }
  interface FastifyReply {
    /** The page with what was typed before the person had to sign in, if it was typed there. */
    withTypedText(markup: string): string
  }
}

type Options = {
  baseUrl: string
  /** SIGN_IN_RETURN_TO. */
  returnPaths: readonly string[]
  keys: EncryptionKeys
  secureCookie: boolean
  clock: Clock
}

/** A secret is not written anywhere, not even encrypted. */
const unkeptFields: readonly string[] = ['secret']

const maxFormBytes = 16_384 // more does not fit into the cookie

/**
 * Leads people of the pages to sign-in and back. A page without a session redirects to sign-in, which
 * returns to it. A form that is refused because its sender has to sign in or to confirm their
 * identity keeps what was typed in an encrypted cookie; the page then shows it again, once.
 */
export default fp<Options>(
  async function signInReturn(app, { baseUrl, returnPaths, keys, secureCookie, clock }) {
    /** Patterns by route. */
    const pages = new Map<string, RegExp>()
    const cookie = {
      path: '/app',
      httpOnly: true,
      secure: secureCookie,
      sameSite: 'lax',
    } as const

    app.addHook('onRoute', function collectPage({ method, url, exposeHeadRoute }) {
      // Event streams, which are no pages, are the GET routes without HEAD.
      if (method !== 'GET' || exposeHeadRoute === false) return
      if (url === '/' || url.startsWith('/app/')) pages.set(url, pathPattern(url))
    })
    const patterns = () => [...pages.values()]
    app.decorate('allowedReturn', (path) => {
      if (path === undefined) return null
      return returnPaths.includes(path) || isPagePath(path, patterns()) ? path : null
    })
    app.decorateRequest('redirectedToSignIn', false)
    app.decorateReply('withTypedText', withTypedText)
    app.setErrorHandler(leadToSignIn)

    async function leadToSignIn(
      this: FastifyInstance,
      error: unknown,
      request: FastifyRequest,
      reply: FastifyReply,
    ) {
      if (!isSignInNeeded(error) || !acceptsHtml(request.headers.accept)) throw error
      const { method, routeOptions, url } = request
      const { url: route = '' } = routeOptions
      if (method === 'POST' && route.startsWith('/app/')) {
        const returnTo = pageOfForm(pathOf(request), patterns()) ?? '/'
        const isTextKept = await keepDraft(request, reply, returnTo)
        throw resumable(error, { returnTo, isTextKept })
      }
      if (error.code !== 'unauthenticated' || !pages.has(route)) throw error
      request.redirectedToSignIn = true
      reply.header('cache-control', 'no-store').header('vary', 'accept')
      return reply.redirect(signInPath({ returnTo: this.allowedReturn(url) }))
    }

    /** @returns false if nothing was typed, or it is too long */
    async function keepDraft(request: FastifyRequest, reply: FastifyReply, page: string) {
      // Another site must not choose what a form shows.
      if (!isForm(request.headers['content-type']) || !isSameOrigin(request, baseUrl)) return false
      const fields = (await readFields(request))?.filter(([name]) => !unkeptFields.includes(name))
      if (fields === undefined || fields.length === 0) return false
      const draft = { page, action: pathOf(request), fields }
      const sealed = sealDraft(keys, draft, unixSeconds(clock))
      if (sealed === null) return false
      reply.setCookie(draftCookie, sealed, { ...cookie, maxAge: draftSeconds })
      return true
    }

    function withTypedText(this: FastifyReply, markup: string): string {
      const { request } = this
      const sealed = request.cookies[draftCookie]
      if (sealed === undefined || request.method !== 'GET') return markup
      const draft = unsealDraft(keys, sealed, unixSeconds(clock))
      if (draft !== null && draft.page !== pathOf(request)) return markup
      this.clearCookie(draftCookie, cookie)
      return draft === null ? markup : fillForm(markup, draft)
    }
  },
  { name: 'sign-in-return', fastify: '5.x', dependencies: ['session'] },
)

function isSignInNeeded(error: unknown): error is Problem {
  if (!(error instanceof Problem)) return false
  return error.code === 'unauthenticated' || error.code === 'reauthentication-required'
}

function resumable({ code, detail, reason }: Problem, resumption: Resumption): Problem {
  return new Problem(code, { ...(detail !== undefined && { detail }), reason, resumption })
}

function isSameOrigin({ headers }: FastifyRequest, baseUrl: string): boolean {
  const { 'sec-fetch-site': site, origin } = headers
  return site === undefined ? origin === baseUrl : site === 'same-origin'
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] ?? url
}

/**
 * The fields of a form, which is refused before its body is read or after.
 * @returns null if the body is too long
 */
async function readFields({ body, raw }: FastifyRequest): Promise<[string, string][] | null> {
  if (typeof body === 'object' && body !== null) {
    return Object.entries(body).flatMap(([name, value]) =>
      [value].flat().map((one): [string, string] => [name, String(one)]),
    )
  }
  const text = await readBody(raw, maxFormBytes)
  return text && [...new URLSearchParams(text.toString())]
}
