import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { type ErrorCode, errorTable, isDatabaseUnavailable, Refusal } from '#src/errors.ts'
import { problemPage } from '#src/pages/problem.ts'

const unavailableRetrySeconds = 1

/**
 * Every error leaves as problem+json (RFC 9457) with the request id as `instance`. What went wrong
 * inside is logged, never told: a 5xx says no more than its title.
 */
export default fp(
  async function errors(app) {
    app.setErrorHandler(function answerError(error: FastifyError, request, reply) {
      const refusal = refusalOf(error)
      if (errorTable[refusal.code].status >= 500) request.log.error({ err: error }, refusal.code)
      return sendProblem(request, reply, refusal, validationErrors(error))
    })
    app.setNotFoundHandler(function answerNotFound(request, reply) {
      return sendProblem(request, reply, new Refusal('not-found'))
    })
  },
  { name: 'errors', fastify: '5.x' },
)

type FieldError = { path: string; message: string }

function sendProblem(
  request: FastifyRequest,
  reply: FastifyReply,
  refusal: Refusal,
  errors?: FieldError[],
) {
  const { status, title } = errorTable[refusal.code]
  if (refusal.retryAfterSeconds !== undefined)
    reply.header('retry-after', refusal.retryAfterSeconds)
  reply.code(status).header('vary', 'accept')
  if (wantsPage(request)) {
    const page = { status, title, detail: refusal.detail ?? '', requestId: request.id }
    return reply.type('text/html').serializer(String).send(problemPage(page))
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

/** What a caller may learn of an error. */
function refusalOf(error: FastifyError): Refusal {
  if (error instanceof Refusal) return error
  if (isDatabaseUnavailable(error)) {
    return new Refusal('unavailable', { retryAfterSeconds: unavailableRetrySeconds })
  }
  const status = error.statusCode ?? 500
  return new Refusal(codeOfStatus(status), error.validation ? {} : clientDetail(status, error))
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

function clientDetail(status: number, error: FastifyError): { detail?: string } {
  return status === 400 ? { detail: error.message } : {}
}

function validationErrors(error: FastifyError): FieldError[] | undefined {
  return error.validation?.map(({ instancePath, params, message }) => ({
    path: [instancePath, params?.additionalProperty].filter(Boolean).join('/') || '/',
    message: message ?? 'is not valid',
  }))
}
