import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import {
  draftCookie,
  draftSeconds,
  type FormDraft,
  sealDraft,
  unsealDraft,
} from '#src/http/form-draft.ts'
import { acceptsHtml, isForm } from '#src/http/params.ts'
import { type ErrorCode, Problem, type Resumption } from '#src/http/problems.ts'
import { isPagePath, pageOfForm, pathPattern } from '#src/http/return-path.ts'
import type { FieldError } from '#src/http/validation.ts'
import { isSignInProblem, refusalText } from '#src/pages/account/problem.ts'
import { signInPath } from '#src/pages/account/sign-in.ts'
import { fillForm } from '#src/pages/kit/form-draft.ts'
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
    /** How its sender goes on, for a form that was refused. */
    resumption: Resumption | null
    /** The response redirects to sign-in, so it needs no permission. */
    redirectedToSignIn: boolean
  }
  interface FastifyReply {
    /** The page with what was typed into a form of it that was refused. */
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

/** Refusals after which the form is of no use. */
const finalCodes: ReadonlySet<ErrorCode> = new Set([
  'not-found',
  'forbidden',
  'session-required',
  'person-required',
  'invalid-token',
  'cross-origin',
])

const maxFormBytes = 16_384 // more does not fit into the cookie

/**
 * Leads people of the pages to sign-in and back. A page without a session redirects to sign-in, which
 * returns to it. If a form is refused, because its sender has to sign in or for any other reason, what
 * was typed is kept in an encrypted cookie; the page then shows it again, once, with what is wrong
 * beside each field.
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

    app.addHook('onRoute', function collectPage(route) {
      const { method, url, exposeHeadRoute } = route
      const isForm = [method].flat().includes('POST') && url.startsWith('/app/')
      if (isForm) route.preHandler = [forgetDraft, ...[route.preHandler ?? []].flat()]
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
    app.decorateRequest('resumption', null)
    app.decorateReply('withTypedText', withTypedText)
    app.setErrorHandler(leadBack)

    async function leadBack(
      this: FastifyInstance,
      error: unknown,
      request: FastifyRequest,
      reply: FastifyReply,
    ) {
      if (!acceptsHtml(request.headers.accept)) throw error
      const { method, routeOptions, url } = request
      const { url: route = '' } = routeOptions
      if (method === 'POST' && route.startsWith('/app/')) {
        request.resumption = await findResumption(request, reply, error)
        throw error
      }
      const isSignedOut = error instanceof Problem && error.code === 'unauthenticated'
      if (!isSignedOut || !pages.has(route)) throw error
      request.redirectedToSignIn = true
      reply.header('cache-control', 'no-store').header('vary', 'accept')
      return reply.redirect(signInPath({ returnTo: this.allowedReturn(url) }))
    }

    async function findResumption(
      request: FastifyRequest,
      reply: FastifyReply,
      error: unknown,
    ): Promise<Resumption | null> {
      const { problem, fields } = app.describeRefusal(error, request)
      const page = pageOfForm(pathOf(request), patterns())
      if (isSignInProblem(problem.code)) {
        const returnTo = page ?? '/'
        const draft = { page: returnTo, session: null, reason: null, faults: [] }
        return { returnTo, isTextKept: await keepDraft(request, reply, draft) }
      }
      if (page === null || finalCodes.has(problem.code)) return null
      const faults = fields.filter(({ in: place }) => place === 'body').map(toFault)
      const reason = faults.length > 0 ? null : refusalText(problem)
      const draft = { page, session: sessionOf(request), reason, faults }
      const isTextKept = await keepDraft(request, reply, draft)
      return isTextKept ? { returnTo: page, isTextKept } : null
    }

    /** @returns false if nothing was typed, or it is too long */
    async function keepDraft(
      request: FastifyRequest,
      reply: FastifyReply,
      refusal: Omit<FormDraft, 'action' | 'fields'>,
    ) {
      // Another site must not choose what a form shows.
      if (!isForm(request.headers['content-type']) || !isSameOrigin(request, baseUrl)) return false
      const fields = (await readFields(request))?.filter(([name]) => !unkeptFields.includes(name))
      if (fields === undefined || fields.length === 0) return false
      const draft = { ...refusal, action: pathOf(request), fields }
      const sealed = sealDraft(keys, draft, unixSeconds(clock))
      if (sealed === null) return false
      reply.setCookie(draftCookie, sealed, { ...cookie, maxAge: draftSeconds })
      return true
    }

    /** Once the form is sent again, the page must not show what was in it before. */
    async function forgetDraft(request: FastifyRequest, reply: FastifyReply) {
      const sealed = request.cookies[draftCookie]
      if (sealed === undefined) return
      const draft = unsealDraft(keys, sealed, unixSeconds(clock))
      if (draft?.action === pathOf(request)) reply.clearCookie(draftCookie, cookie)
    }

    function withTypedText(this: FastifyReply, markup: string): string {
      const { request } = this
      const sealed = request.cookies[draftCookie]
      if (sealed === undefined || request.method !== 'GET') return markup
      const draft = unsealDraft(keys, sealed, unixSeconds(clock))
      if (draft !== null && draft.page !== pathOf(request)) return markup
      this.clearCookie(draftCookie, cookie)
      // Somebody else may have signed in with this browser since.
      const isOwn = draft?.session === null || draft?.session === sessionOf(request)
      return draft !== null && isOwn ? fillForm(markup, draft) : markup
    }
  },
  { name: 'sign-in-return', fastify: '5.x', dependencies: ['errors', 'session'] },
)

/** `/permissions/0` is the field `permissions` of a form. */
function toFault({ pointer, detail }: FieldError): readonly [string, string] {
  return [pointer.split('/', 2)[1] ?? 'The form', detail]
}

function isSameOrigin({ headers }: FastifyRequest, baseUrl: string): boolean {
  const { 'sec-fetch-site': site, origin } = headers
  return site === undefined ? origin === baseUrl : site === 'same-origin'
}

function sessionOf({ credential }: FastifyRequest): string | null {
  return credential ? Buffer.from(credential.hash).toString('base64url') : null
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
  // A body that could not be parsed was read already.
  if (raw.readableDidRead) return null
  const text = await readBody(raw, maxFormBytes)
  return text && [...new URLSearchParams(text.toString())]
}
