import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { operatorNotRecorded } from '#src/auth/operators/operators.ts'
import { type Brand, plainBrand } from '#src/config/brand.ts'
import { UnsealError } from '#src/crypto/encryption.ts'
import { TenantBusy } from '#src/db/connections/tenant-share.ts'
import {
  isDatabaseUnavailable,
  isRefusedValue,
  isUnrecordedOperator,
  refusedValueState,
} from '#src/db/errors.ts'
import { toQuotaProblem } from '#src/db/quota.ts'
import { acceptsHtml } from '#src/http/headers/media-type.ts'
import { countSessionCookies } from '#src/http/headers/session-cookie.ts'
import { withVary } from '#src/http/headers/vary.ts'
import {
  type ErrorCode,
  errorTable,
  type FieldError,
  type PlainErrorCode,
  Problem,
  problemType,
} from '#src/http/problems.ts'
import {
  describeErrors,
  type KeywordError,
  maxListedErrors,
  toFieldErrors,
} from '#src/http/validation.ts'
import { renderPage, type UnknownViewer, type Viewer } from '#src/pages/kit/layout.ts'
import { problemPage } from '#src/pages/sign-in/problem.ts'
import { UnansweredError } from '#src/queue/answers.ts'
import { PostponedError } from '#src/webhooks/client/errors.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** What the response says about an error, and about which values of the request. */
    describeRefusal(error: unknown, request: FastifyRequest): Refusal
  }
}

/** An error as its response says it. */
type Refusal = { problem: Problem; fields: readonly FieldError[] }

const unavailableRetrySeconds = 1

/**
 * Sends every error as problem+json (RFC 9457) with the request id as `instance`, or as a page to a
 * browser. Internal errors are logged; the response to a 5xx never says their cause.
 */
export default fp(
  async function errors(app) {
    app.decorate('describeRefusal', describeRefusal)
    app.setErrorHandler(answerError)
  },
  { name: 'errors', fastify: '5.x' },
)

/** The admin server does not register the branding plugin. */
function brandOf(server: FastifyInstance): Brand {
  return server.hasDecorator('brand') ? server.brand : plainBrand
}

/** Also used for errors before routing (Fastify's `frameworkErrors`). */
export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const { problem, fields } = describeRefusal(error, request)
  if (errorTable[problem.code].status >= 500) request.log.error({ err: error }, problem.code)
  // A schema should have refused the value, but the mistake of the request stays a 400. The server's
  // message can quote the value, so only its SQLSTATE is logged.
  if (isRefusedValue(error)) {
    const route = request.routeOptions.url
    request.log.warn({ sqlState: refusedValueState(error), route }, 'the database refused a value')
  }
  return sendProblem(request, reply, problem, fields)
}

function describeRefusal(error: unknown, request: FastifyRequest): Refusal {
  // A client that disconnects while sending the body is not a server error.
  const problem = request.raw.readableAborted ? new Problem('malformed') : toProblem(error)
  return { problem, fields: [...problem.fields, ...validationErrors(error, request)] }
}

/** `WWW-Authenticate` (RFC 6750, section 3). */
const challenges: Partial<Record<ErrorCode, string>> = {
  unauthenticated: 'Bearer',
  'invalid-token': 'Bearer error="invalid_token"',
}

/** The detail of an error about which there is no more to say than what to do. */
const remedies: Partial<Record<ErrorCode, string>> = {
  unauthenticated: errorTable.unauthenticated.remedy,
  'invalid-token': errorTable['invalid-token'].remedy,
  'unsupported-media-type': errorTable['unsupported-media-type'].remedy,
}

function sendProblem(
  request: FastifyRequest,
  reply: FastifyReply,
  problem: Problem,
  errors: readonly FieldError[],
) {
  const { status, title } = errorTable[problem.code]
  const wait = problem.retryAfterSeconds ?? (status === 503 ? unavailableRetrySeconds : undefined)
  if (wait !== undefined) reply.header('retry-after', wait)
  const challenge = challenges[problem.code]
  if (challenge !== undefined) reply.header('www-authenticate', challenge)
  // Another encoding may have been announced before the response failed.
  reply.removeHeader('content-encoding')
  reply.code(status).header('vary', withVary(reply.getHeader('vary'), 'accept'))
  if (acceptsHtml(request.headers.accept)) {
    const send = () => sendPage(request, reply, { problem, errors, wait: wait ?? null })
    return lacksViewer(request, problem) ? findViewer(request).then(send) : send()
  }
  return reply
    .type('application/problem+json')
    .serializer(JSON.stringify)
    .send({
      type: problemType(problem.code),
      title,
      status,
      detail: problem.detail ?? describeErrors(errors) ?? remedies[problem.code],
      instance: request.id,
      ...(errors.length > 0 && {
        errors: errors.slice(0, Math.max(maxListedErrors, problem.fields.length)),
      }),
    })
}

function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  {
    problem,
    errors,
    wait,
  }: { problem: Problem; errors: readonly FieldError[]; wait: number | null },
) {
  const { status, title } = errorTable[problem.code]
  const page = {
    status,
    title,
    detail: problem.detail ?? '',
    requestId: request.id,
    code: problem.code,
    path: request.url,
    waitSeconds: wait,
    signIn: problem.signIn ?? null,
    // Only requests of the pages have this property.
    resumption: request.resumption ?? null,
    fields: errors.slice(0, maxListedErrors).map(toShownField),
    viewer: viewerOf(request),
  }
  return reply
    .type('text/html; charset=utf-8')
    .serializer(String)
    .send(renderPage(problemPage(page), brandOf(request.server)))
}

/** The database is not asked again if it, or its share of the tenant, is why the request failed. */
const withoutLookUp: readonly string[] = ['unavailable', 'unauthenticated', 'tenant-busy']

/** True for a browser's request that has not found yet what the frame of a page shows. */
function lacksViewer(request: FastifyRequest, { code, reason }: Problem): boolean {
  const { credential, person, enteredCaller } = request
  const isFound = person !== null && enteredCaller !== null
  return (
    credential?.kind === 'session' &&
    !isFound &&
    !withoutLookUp.includes(code) &&
    !withoutLookUp.includes(reason)
  )
}

/** The page says what went wrong whether or not its viewer can be found. */
async function findViewer(request: FastifyRequest): Promise<void> {
  await request.enterForErrorPage().catch((error) => {
    request.log.warn({ err: error }, 'the viewer of an error page was not found')
  })
}

/** `/postalCode` as the words of a form: `Postal code`. */
function toShownField({ pointer, in: place, detail }: FieldError) {
  const words = pointer
    .slice(1)
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replaceAll('/', ' ')
  const name = words === '' ? `the ${place}` : words
  return { name: `${name.charAt(0).toUpperCase()}${name.slice(1)}`, detail }
}

/**
 * Who asked, if the request has entered. Otherwise the cookie is the only hint. Requests outside the
 * scope of browsers have no such property.
 */
function viewerOf(request: FastifyRequest): Viewer | UnknownViewer {
  if (request.enteredCaller) return request.viewer
  // Only requests of the pages have this property.
  const { portal = null } = request
  if (portal !== null) return { mayBeSignedIn: false, portal }
  return { mayBeSignedIn: countSessionCookies(request.headers.cookie) > 0 }
}

/** Our words for what Fastify refuses before a schema is asked. They never repeat the value. */
const detailOfFastifyError: Partial<Record<string, string>> = {
  FST_ERR_CTP_EMPTY_JSON_BODY: 'The body is empty, but Content-Type says application/json.',
  FST_ERR_CTP_INVALID_JSON_BODY:
    'The body is not JSON, or has a field `__proto__` or `constructor.prototype`.',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'The body is not as long as Content-Length says.',
}

/** Converts an error for the response. No message of an error is passed on. */
function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (isDatabaseUnavailable(error) || isOwnFault(error)) return new Problem('unavailable')
  if (error instanceof UnansweredError) {
    return new Problem('unavailable', { detail: unansweredDetails[error.fault] })
  }
  if (error instanceof TenantBusy) {
    const retryAfterSeconds = unavailableRetrySeconds
    const detail = error.message
    return new Problem('too-many-requests', { detail, retryAfterSeconds, reason: 'tenant-busy' })
  }
  if (isRefusedValue(error)) return new Problem('malformed')
  if (isUnrecordedOperator(error)) return operatorNotRecorded()
  if (!isFastifyError(error)) return toQuotaProblem(error) ?? new Problem('internal')
  const code = codeOfStatus(error.statusCode ?? 500)
  const detail = detailOfFastifyError[error.code]
  return new Problem(code, detail === undefined ? {} : { detail })
}

const unansweredDetails: Readonly<Record<UnansweredError['fault'], string>> = {
  missed: 'No worker was free in time, so nothing was sent.',
  lost: 'The worker has not answered. It may have sent something, of which nothing is recorded.',
}

/** A key that only another process has yet, or an outgoing request that we cannot make now. */
function isOwnFault(error: unknown): boolean {
  return error instanceof UnsealError || error instanceof PostponedError
}

/** The status of any other error may be that of a service we called, so it is not used. */
function isFastifyError(error: unknown): error is FastifyError {
  if (!(error instanceof Error) || !('code' in error)) return false
  return typeof error.code === 'string' && error.code.startsWith('FST_')
}

function codeOfStatus(status: number) {
  const codes: Partial<Record<number, PlainErrorCode>> = {
    401: 'unauthenticated',
    403: 'forbidden',
    404: 'not-found',
    405: 'method-not-allowed',
    413: 'too-large',
    415: 'unsupported-media-type',
    503: 'unavailable',
  }
  return codes[status] ?? (status >= 400 && status < 500 ? 'malformed' : 'internal')
}

/** The parts of a request in the order that Fastify validates them. */
const parts = [
  { httpPart: 'params', place: 'path' },
  { httpPart: 'body', place: 'body' },
  { httpPart: 'querystring', place: 'query' },
  { httpPart: 'headers', place: 'header' },
] as const

/** Fastify stops at the first part with an error; the others are validated here. */
function validationErrors(error: unknown, request: FastifyRequest): FieldError[] {
  if (!isFastifyError(error) || !error.validation) return []
  const { validation, validationContext } = error
  const failed = parts.findIndex(({ httpPart }) => httpPart === validationContext)
  return parts.slice(Math.max(failed, 0)).flatMap(({ httpPart, place }) => {
    const errors = httpPart === validationContext ? validation : validatePart(request, httpPart)
    return toFieldErrors(place, errors)
  })
}

function validatePart(
  request: FastifyRequest,
  httpPart: (typeof parts)[number]['httpPart'],
): readonly KeywordError[] {
  const validate = request.getValidationFunction(httpPart)
  if (typeof validate !== 'function') return []
  const { params, body, query: querystring, headers } = request
  const value = { params, body, querystring, headers }[httpPart]
  return validate(value ?? null) === false ? (validate.errors ?? []) : []
}
