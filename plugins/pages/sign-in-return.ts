import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Audience } from '#src/config/audiences.ts'
import { anyPath } from '#src/config/parse.ts'
import type { EncryptionKeys } from '#src/crypto/encryption.ts'
import {
  draftCookie,
  draftSeconds,
  type FormDraft,
  sealDraft,
  senderField,
  unsealDraft,
} from '#src/http/form-draft.ts'
import type { ForwardedRequest } from '#src/http/headers/forwarded-request.ts'
import { acceptsHtml, isForm } from '#src/http/headers/media-type.ts'
import type { FieldError } from '#src/http/problems.ts'
import { type ErrorCode, Problem, type Resumption } from '#src/http/problems.ts'
import { isAppPath, isPagePath, isUrlOf, pageOfForm, pathPattern } from '#src/http/return-path.ts'
import { isInvitationPage } from '#src/pages/account/invitations.ts'
import { isSignInProblem, refusalText } from '#src/pages/sign-in/problem.ts'
import { signInPath } from '#src/pages/sign-in/sign-in.ts'
import { type Clock, unixSeconds } from '#src/runtime/clock.ts'
import { readBody } from '#src/runtime/response-body.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * The target if a sign-in may return to it: a path that SIGN_IN_RETURN_TO lists or allows, also on an
     * origin in IDENTITY_AUDIENCE, one of our own pages or a URL of an origin in APP_ORIGINS. Null for
     * anything else.
     */
    allowedReturn(target: string | undefined): string | null
  }
  interface FastifyRequest {
    /** How its sender goes on, for a form that was refused. */
    resumption: Resumption | null
    /** The response redirects to sign-in, so it needs no permission. */
    redirectedToSignIn: boolean
    /** What was entered into a form that was refused, for the page that has it. */
    draft: FormDraft | null
    /** For whom the form was rendered that this request submits; null if it does not say. */
    sender: number | null
    /** The page that answers a form shows again what was entered, and why it was refused. */
    showAgain(entered: Entered, refusal: Problem | Partial<Refusal>): void
  }
  interface FastifyReply {
    /** A draft is shown once. */
    forgetDraft(): void
    /** Keeps the path that a sign-in is to return to, for an invitation that has to be accepted first. */
    keepWanted(target: string): void
    /** Takes out what was kept; null if there is nothing that a sign-in may return to. */
    takeWanted(): string | null
  }
}

type Options = {
  baseUrl: string
  /** SIGN_IN_RETURN_TO. */
  returnPaths: readonly string[]
  /** APP_ORIGINS. */
  appOrigins: readonly string[]
  /** IDENTITY_AUDIENCE. */
  audiences: readonly Audience[]
  keys: EncryptionKeys
  secureCookie: boolean
  clock: Clock
}

/** Why a form was refused: the faults of its fields, or else a reason. */
type Refusal = Pick<FormDraft, 'reason' | 'faults'>

/** The fields of a form as its schema has them. */
type Entered = Readonly<Record<string, string | readonly string[]>>

/** A secret is not written anywhere, not even encrypted. */
const unkeptFields: readonly string[] = ['secret', senderField]

/** Refusals after which the form is of no use. */
const finalCodes: ReadonlySet<ErrorCode> = new Set([
  'not-found',
  'forbidden',
  'session-required',
  'person-required',
  'invalid-token',
  'cross-origin',
])

const wantedCookie = 'wanted'
const wantedSeconds = 3_600 // as long as the secret of an invitation is kept

const maxFormBytes = 16_384 // more does not fit into the cookie

/**
 * Leads people of the pages to sign-in and back. A page without a session redirects to sign-in, which
 * returns to it; so does a page of an app behind a proxy that asks `/auth/verify`. If a form is refused,
 * because its sender has to sign in or for any other reason, what was entered is kept in an encrypted
 * cookie; the page then shows it again, once, to the person for whom the form was rendered.
 */
export default fp<Options>(
  async function signInReturn(app, options) {
    const { returnPaths, appOrigins, audiences } = options
    const cookie = {
      path: '/app',
      httpOnly: true,
      secure: options.secureCookie,
      sameSite: 'lax',
    } as const
    const drafts = createDrafts(options, cookie)
    const pages = followForms(app, drafts)
    const patterns = () => [...pages.values()]
    const targets = { returnPaths, appOrigins, audiences }
    app.decorate('allowedReturn', (target) =>
      target !== undefined && isAllowed(target, targets, patterns()) ? target : null,
    )
    app.decorateRequest('redirectedToSignIn', false)
    app.decorateRequest('resumption', null)
    app.decorateRequest('draft', null)
    app.decorateRequest('sender', null)
    app.decorateRequest('showAgain', showAgain)
    app.decorateReply('forgetDraft', function forgetDraft() {
      if (drafts.open(this.request) !== undefined) this.clearCookie(draftCookie, cookie)
    })
    keepWantedPages(app, { ...cookie, path: '/invitations' }) // where invitations are accepted
    leadBackAfterErrors(app, options.baseUrl, drafts, pages)
  },
  { name: 'sign-in-return', fastify: '5.x', dependencies: ['errors', 'session'] },
)

/** Prepares the routes of forms and of the pages that have them. @returns patterns of our pages by route */
function followForms(app: FastifyInstance, drafts: Drafts): ReadonlyMap<string, RegExp> {
  const pages = new Map<string, RegExp>()
  app.addHook('onRoute', function followForms(route) {
    const { method, url, exposeHeadRoute } = route
    const isPortal = url.startsWith('/portal/')
    if (url !== '/' && !url.startsWith('/app/') && !isPortal) return
    const others = [route.preValidation ?? []].flat()
    if (method === 'POST')
      route.preValidation = [takeSender, useLineFeeds, forgetSentDraft, ...others]
    // Event streams, which are no pages, are the GET routes without HEAD.
    if (method !== 'GET' || exposeHeadRoute === false || isPortal) return
    pages.set(url, pathPattern(url))
    route.preValidation = [readDraft, ...others]
  })
  return pages

  async function readDraft(request: FastifyRequest) {
    request.draft = drafts.open(request) ?? null
  }

  /** Once the form is sent again, the page must not show what was in it before. */
  async function forgetSentDraft(_request: FastifyRequest, reply: FastifyReply) {
    reply.forgetDraft()
  }
}

/** Keeps in a cookie what was wanted before an invitation had to be accepted. */
function keepWantedPages(app: FastifyInstance, cookie: CookieSerializeOptions): void {
  app.decorateReply('keepWanted', function keepWanted(target: string) {
    // A form may redirect to no other origin; the way to an invitation is not what was wanted.
    if (!target.startsWith('/') || isInvitationPage(target)) return
    this.setCookie(wantedCookie, target, { ...cookie, maxAge: wantedSeconds })
  })
  app.decorateReply('takeWanted', function takeWanted() {
    this.clearCookie(wantedCookie, cookie)
    return app.allowedReturn(this.request.cookies[wantedCookie])
  })
}

/** Leads to sign-in, or back to the page whose form was refused. */
function leadBackAfterErrors(
  app: FastifyInstance,
  baseUrl: string,
  drafts: Drafts,
  pages: ReadonlyMap<string, RegExp>,
): void {
  app.setErrorHandler(leadBack)

  async function leadBack(
    this: FastifyInstance,
    error: unknown,
    request: FastifyRequest,
    reply: FastifyReply,
  ) {
    const isSignedOut = error instanceof Problem && error.code === 'unauthenticated'
    if (isSignedOut && request.forwarded)
      return leadVisitor(request.forwarded, reply, error, baseUrl)
    if (!acceptsHtml(request.headers.accept)) throw error
    const { method, routeOptions, url } = request
    const { url: route = '' } = routeOptions
    if (method === 'POST' && route.startsWith('/app/')) {
      request.resumption = await findResumption(request, reply, error)
      throw error
    }
    if (!pages.has(route)) throw error
    const page = this.allowedReturn(url)
    if (!isSignedOut) {
      const isUnconfirmed = error instanceof Problem && error.code === 'reauthentication-required'
      if (isUnconfirmed && page) request.resumption = { returnTo: page, isTextKept: false }
      throw error
    }
    request.redirectedToSignIn = true
    reply.header('cache-control', 'no-store').header('vary', 'accept')
    return reply.redirect(signInPath({ returnTo: page }))
  }

  async function findResumption(
    request: FastifyRequest,
    reply: FastifyReply,
    error: unknown,
  ): Promise<Resumption | null> {
    const { problem, fields } = app.describeRefusal(error, request)
    const page = pageOfForm(pathOf(request), [...pages.values()])
    if (isSignInProblem(problem.code)) {
      const returnTo = page ?? '/'
      const isTextKept = await drafts.keep(request, reply, returnTo, { reason: null, faults: [] })
      return { returnTo, isTextKept }
    }
    if (page === null || finalCodes.has(problem.code)) return null
    const isTextKept = await drafts.keep(request, reply, page, refusalIn(problem, fields))
    return isTextKept ? { returnTo: page, isTextKept } : null
  }
}

/** Whether a sign-in may return there. @param pages patterns of our own pages */
function isAllowed(
  target: string,
  { returnPaths, appOrigins, audiences }: Pick<Options, 'returnPaths' | 'appOrigins' | 'audiences'>,
  pages: readonly RegExp[],
): boolean {
  const served = audiences.flatMap(({ origins }) => origins)
  const isListed = returnPaths.includes(target) && target !== anyPath
  const origin = served.find((one) => target.startsWith(`${one}/`)) ?? ''
  const isOfApp = returnPaths.includes(anyPath) && isAppPath(target.slice(origin.length))
  return isListed || isOfApp || isPagePath(target, pages) || isUrlOf(target, appOrigins)
}

/**
 * A proxy asks about a request to the app. Only a page that opens is redirected; anything else gets the
 * address of the sign-in in `Link`. The page is returned to only if a sign-in may.
 */
function leadVisitor(
  { isNavigation, origin, path, from, takesNoRedirect }: ForwardedRequest,
  reply: FastifyReply,
  error: unknown,
  baseUrl: string,
) {
  const { allowedReturn } = reply.server
  const page = isNavigation ? path : from
  const wanted = page === null ? undefined : `${origin === baseUrl ? '' : origin}${page}`
  const returnTo = allowedReturn(wanted) ?? allowedReturn(wanted?.split('?', 1)[0])
  const signIn = `${baseUrl}${signInPath({ returnTo })}`
  reply.header('vary', 'accept, sec-fetch-mode')
  reply.header('link', `<${signIn}>; rel="authenticate"`)
  if (!isNavigation) throw error
  if (!takesNoRedirect) {
    reply.request.redirectedToSignIn = true
    return reply.redirect(signIn)
  }
  reply.header('location', signIn)
  throw error
}

type Drafts = ReturnType<typeof createDrafts>

/** What was entered into refused forms, in an encrypted cookie of the browser. */
function createDrafts(
  { keys, clock, baseUrl }: Pick<Options, 'keys' | 'clock' | 'baseUrl'>,
  cookie: object,
) {
  /** @returns false if it is not known who entered it, nothing was entered, or it is too long */
  async function keep(
    request: FastifyRequest,
    reply: FastifyReply,
    page: string,
    refusal: Refusal,
  ) {
    // Another site must not choose what a form shows.
    if (!isForm(request.headers['content-type']) || !isSameOrigin(request, baseUrl)) return false
    const sent = await readFields(request)
    const sender = request.sender ?? senderOf(new Map(sent).get(senderField))
    const fields = sent.filter(([name]) => !unkeptFields.includes(name))
    // Somebody else may have signed in with this browser since the form was rendered.
    const isOther = request.enteredCaller !== null && request.enteredCaller.userId !== sender
    if (sender === null || isOther || fields.length === 0) return false
    const draft = { ...refusal, page, action: pathOf(request), fields, sender }
    const sealed = sealDraft(keys, draft, unixSeconds(clock))
    if (sealed === null) return false
    reply.setCookie(draftCookie, sealed, { ...cookie, maxAge: draftSeconds })
    return true
  }

  /** @returns undefined if there is none for this page; null for a cookie that is not valid */
  function open(request: FastifyRequest) {
    const sealed = request.cookies[draftCookie]
    if (sealed === undefined) return undefined
    const draft = unsealDraft(keys, sealed, unixSeconds(clock))
    const path = request.method === 'GET' ? draft?.page : draft?.action
    return draft === null || path === pathOf(request) ? draft : undefined
  }

  return { keep, open }
}

/** Takes the sender out of the body, so that a schema has only the fields of its form. */
async function takeSender(request: FastifyRequest) {
  const { body } = request
  if (typeof body !== 'object' || body === null) return
  const { [senderField]: sender, ...fields }: Record<string, unknown> = { ...body }
  request.sender = senderOf(sender)
  request.body = fields
}

/** Browsers send a line break as two characters, which the limits of a field and of its input count as one. */
async function useLineFeeds(request: FastifyRequest) {
  const { body } = request
  if (typeof body !== 'object' || body === null) return
  const fields = Object.entries(body).map(([name, value]) => [
    name,
    typeof value === 'string' ? value.replaceAll('\r\n', '\n') : value,
  ])
  request.body = Object.fromEntries(fields)
}

/** The id of a user; null for anything else. */
function senderOf(text: unknown): number | null {
  const id = typeof text === 'string' && /^[1-9]\d*$/.test(text) ? Number(text) : 0
  return Number.isSafeInteger(id) && id > 0 ? id : null
}

function showAgain(
  this: FastifyRequest,
  entered: Entered,
  refusal: Problem | Partial<Refusal>,
): void {
  if (this.enteredCaller === null) return
  const isProblem = refusal instanceof Problem
  const { reason = null, faults = [] } = isProblem ? refusalIn(refusal, refusal.fields) : refusal
  const { userId: sender } = this.enteredCaller
  this.draft = { action: pathOf(this), fields: pairsOf(entered), sender, reason, faults }
}

function refusalIn(problem: Problem, fields: readonly FieldError[]): Refusal {
  const faults = fields.filter(({ in: place }) => place === 'body').map(toFault)
  return { reason: faults.length > 0 ? null : refusalText(problem), faults }
}

/** `/permissions/0` is the field `permissions` of a form. */
function toFault({ pointer, detail }: FieldError): readonly [string, string] {
  return [pointer.split('/', 2)[1] ?? 'The form', detail]
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
 * @returns none if the body is too long
 */
async function readFields({ body, raw }: FastifyRequest): Promise<[string, string][]> {
  if (typeof body === 'object' && body !== null) return pairsOf({ ...body })
  // A body that could not be parsed was read already.
  const text = raw.readableDidRead ? null : await readBody(raw, maxFormBytes)
  return text === null ? [] : [...new URLSearchParams(text.toString())]
}

function pairsOf(fields: Readonly<Record<string, unknown>>): [string, string][] {
  return Object.entries(fields).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, String(one)]),
  )
}
