import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { type ErrorCode, errorTable, isDatabaseUnavailable, Problem } from '#src/http/problems.ts'
import { problemPage } from '#src/pages/problem.ts'

const unavailableRetrySeconds = 1

/**
 * Every error leaves as problem+json (RFC 9457) with the request id as `instance`. What went wrong
 * inside is logged, never told: a 5xx says no more than its title.
 */
export default fp(
  async function errors(app) {
    app.setErrorHandler(answerError)
  },
  { name: 'errors', fastify: '5.x' },
)

/** Also for what Fastify refuses before it has found a route (`frameworkErrors`). */
export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  // Whoever breaks off in the middle of a body is no failure of ours.
  const refusal = request.raw.readableAborted ? new Problem('malformed') : toProblem(error)
  if (errorTable[refusal.code].status >= 500) request.log.error({ err: error }, refusal.code)
  return sendProblem(request, reply, refusal, validationErrors(error))
}

/** How to come with an identity, for programs (RFC 6750, 3). */
const challenges: Partial<Record<ErrorCode, string>> = {
  unauthenticated: 'Bearer',
  'invalid-token': 'Bearer error="invalid_token"',
}

type FieldError = { path: string; message: string }

function sendProblem(
  request: FastifyRequest,
  reply: FastifyReply,
  refusal: Problem,
  errors?: FieldError[],
) {
  const { status, title } = errorTable[refusal.code]
  const wait = refusal.retryAfterSeconds ?? (status === 503 ? unavailableRetrySeconds : undefined)
  if (wait !== undefined) reply.header('retry-after', wait)
  const challenge = challenges[refusal.code]
  if (challenge !== undefined) reply.header('www-authenticate', challenge)
  reply.code(status).header('vary', 'accept')
  if (wantsPage(request)) {
    const page = {
      status,
      title,
      detail: refusal.detail ?? '',
      requestId: request.id,
      code: refusal.code,
      path: request.url,
      waitSeconds: wait ?? null,
      signIn: refusal.signIn ?? null,
    }
    return reply.type('text/html; charset=utf-8').serializer(String).send(problemPage(page))
  }
  return reply
    .type('application/problem+json')
    .serializer(JSON.stringify)
    .send({
      type: `urn:gatehouse:problem:${refusal.code}`,
      title,
      status,
      detail: refusal.detail,
      instance: request.id,
      errors,
    })
}

/** A person's browser asks for a page; programs take JSON, also where they take anything. */
function wantsPage(request: FastifyRequest): boolean {
  return request.headers.accept?.includes('text/html') ?? false
}

/** What a caller may learn of an error: the words of Fastify's own 400s, nobody else's. */
function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (isDatabaseUnavailable(error)) return new Problem('unavailable')
  if (!isFastifyError(error)) return new Problem('internal')
  const code = codeOfStatus(error.statusCode ?? 500)
  const tells = code === 'malformed' && !error.validation
  return new Problem(code, tells ? { detail: error.message } : {})
}

/** A status that comes with any other error is the status of something we called. */
function isFastifyError(error: unknown): error is FastifyError {
  if (!(error instanceof Error) || !('code' in error)) return false
  return typeof error.code === 'string' && error.code.startsWith('FST_')
}

function codeOfStatus(status: number): ErrorCode {
  const codes: Partial<Record<number, ErrorCode>> = {
    401: 'unauthenticated',
    403: 'forbidden',
    404: 'not-found',
    405: 'method-not-allowed',
    413: 'too-large',
    415: 'unsupported-media-type',
    429: 'too-many-requests',
    503: 'unavailable',
  }
  return codes[status] ?? (status >= 400 && status < 500 ? 'malformed' : 'internal')
}

function validationErrors(error: unknown): FieldError[] | undefined {
  if (!isFastifyError(error)) return undefined
  return error.validation?.map(({ instancePath, params, message }) => ({
    path:
      [instancePath, params?.additionalProperty ?? params?.missingProperty]
        .filter((part) => part !== undefined)
        .join('/') || '/',
    message: message ?? 'is not valid',
  }))
}
