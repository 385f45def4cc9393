import { type Readable, Transform } from 'node:stream'
import { normalizeIP } from '@fastify/rate-limit'
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction, RequestPayload } from 'fastify'
import fp from 'fastify-plugin'
import rawBody from 'fastify-raw-body'
import type { BillingProvider } from '#src/billing/providers/provider.ts'
import { isDatabaseUnavailable } from '#src/db/errors.ts'
import { clientAddressOf } from '#src/http/headers/client-address.ts'
import { errorTable, Problem } from '#src/http/problems.ts'
import { isEncodedBody } from '#src/http/request-body.ts'
import { createFailureLog } from '#src/observability/failure-log.ts'
import type { BillingMetrics, WebhookOutcome } from '#src/observability/metrics.ts'
import { type ByteBudget, createByteBudget } from '#src/runtime/byte-budget.ts'
import { type Clock, unixSeconds } from '#src/runtime/clock.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The verified body and the index of the secret that verified it. Null until verification. */
    webhook: { body: Buffer; secretIndex: number } | null
    /** The outcome for metrics, if the status alone does not determine it. */
    webhookOutcome: WebhookOutcome | null
    /** How long its stages took; null until verification. */
    webhookSeconds: { verify: number; record?: number } | null
    /** Ends the count of the body's bytes as unverified. Null until the body is counted. */
    releaseBody: (() => void) | null
  }
}

type Options = {
  provider: BillingProvider
  secrets: readonly string[]
  clock: Clock
  metrics?: BillingMetrics
  /** Bytes of bodies that are not verified yet, in this process. */
  maxUnverifiedBytes: number
}

/** An address can hold a quarter of the bytes, so that a few strangers leave room for the provider. */
const addressShare = 4

// Longer than nearly all events. 500 connections of one address can declare half of its share.
const countedAtOnceBytes = 16_384

/**
 * Verifies the signature over the raw body before anything parses it. Bodies are neither parsed nor
 * decompressed. Until a body is complete and verified, its bytes count towards a budget: anybody can
 * send them. Responses are plain text. Events that cannot be recorded are logged once a second.
 */
export default fp<Options>(
  async function webhookVerify(app, options) {
    const { provider, secrets, clock, metrics, maxUnverifiedBytes } = options
    const perHolder = Math.ceil(maxUnverifiedBytes / addressShare)
    const budget = createByteBudget({ total: maxUnverifiedBytes, perHolder })
    await app.register(rawBody, { encoding: false, jsonContentTypes: [] })
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    app.decorateRequest('webhook', null)
    app.decorateRequest('webhookOutcome', null)
    app.decorateRequest('webhookSeconds', null)
    app.decorateRequest('releaseBody', null)
    app.addHook('onRequest', ignoreType)
    app.addHook('preParsing', refuseEncodedBody)
    metrics?.unverifiedBytes.readFrom(budget.held)
    // Callbacks, because a promise for each would cost more than what they do.
    app.addHook('preParsing', function countBody(request, reply, payload, done) {
      countUnverified(budget, request, reply, payload, done)
    })
    app.addHook('preValidation', function verifyWebhook(request, reply, done) {
      const body = Buffer.isBuffer(request.rawBody) ? request.rawBody : Buffer.alloc(0)
      const begun = performance.now()
      const verdict = provider.verify(request.headers, body, secrets, unixSeconds(clock))
      request.webhookSeconds = { verify: (performance.now() - begun) / 1_000 }
      request.releaseBody?.()
      if (!verdict.ok) {
        request.webhookOutcome = outcomes[verdict.fault]
        reply.code(400).type('text/plain').send(verdict.fault)
        return
      }
      request.webhook = { body, secretIndex: verdict.secretIndex }
      done()
    })
    app.addHook('onResponse', function countWebhook(request, reply, done) {
      const outcome = request.webhookOutcome ?? outcomeOf(reply.statusCode)
      metrics?.requests.inc({ outcome })
      for (const [stage, seconds] of Object.entries(request.webhookSeconds ?? {})) {
        metrics?.stages.observe({ stage }, seconds)
      }
      done()
    })
    const failures = createFailureLog(app.log, 'webhook not recorded')
    app.addHook('onClose', async function closeFailureLog() {
      failures.close()
    })
    app.setErrorHandler(function answerInText(error: Error, _request, reply) {
      const status = statusOf(error)
      if (status >= 500) failures.add(error)
      if (status === 503) reply.header('retry-after', 1)
      return reply.code(status).type('text/plain').send(textOf(status))
    })
  },
  { name: 'webhook-verify', fastify: '5.x' },
)

const outcomes = {
  'bad signature': 'bad_signature',
  'timestamp outside tolerance': 'outside_tolerance',
} as const satisfies Record<string, WebhookOutcome>

function outcomeOf(status: number): WebhookOutcome {
  const byStatus: Partial<Record<number, WebhookOutcome>> = {
    413: 'too_large',
    415: 'encoded',
    429: 'rate_limited',
    503: 'unavailable',
  }
  return byStatus[status] ?? (status < 500 ? 'malformed' : 'failed')
}

/** The type of a signed body decides nothing, and Fastify refuses one that it cannot read. */
function ignoreType({ raw }: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  // Deleting a member would make reading the others slower.
  if (raw.headers['content-type'] !== undefined) raw.headers['content-type'] = undefined
  done()
}

function refuseEncodedBody(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  _payload: RequestPayload,
  done: HookHandlerDoneFunction,
): void {
  if (!isEncodedBody(headers)) done()
  else reply.code(415).type('text/plain').send('content-encoding is not accepted')
}

/**
 * Takes the bytes of the body from the budget until it is complete or the request ends. A request for
 * which the budget is too small gets 503. A small body of declared length is counted at once, because
 * a stream would cost more than the rest of the request.
 * @param done gets the payload to read
 */
function countUnverified(
  budget: ByteBudget,
  request: FastifyRequest,
  reply: FastifyReply,
  payload: RequestPayload,
  done: (refusal: Problem | null, payload?: RequestPayload) => void,
): void {
  const holder = normalizeIP(clientAddressOf(request))
  let taken = 0
  const take = (bytes: number): Problem | null => {
    if (!budget.take(holder, bytes)) {
      request.webhookOutcome = 'over_budget'
      return new Problem('unavailable', { reason: 'unverified-bytes' })
    }
    taken += bytes
    return null
  }
  const release = () => {
    budget.give(holder, taken)
    taken = 0
  }
  // The client may have gone while the rate limit waited for its store: nothing would give the bytes back.
  if (reply.raw.closed) {
    done(new Problem('unavailable', { reason: 'client-gone' }))
    return
  }
  request.releaseBody = release
  reply.raw.once('close', release)
  const declared = Number(request.headers['content-length'])
  if (declared <= countedAtOnceBytes) done(take(declared), payload)
  else done(null, countChunks(take, reply, payload))
}

/**
 * The body as a stream that fails as soon as `take` refuses a chunk. Then the rest is discarded as it
 * arrives, so that the sender reads the answer.
 */
function countChunks(
  take: (bytes: number) => Problem | null,
  reply: FastifyReply,
  payload: Readable,
): RequestPayload {
  const counted: RequestPayload & Transform = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const refusal = take(chunk.length)
      if (refusal !== null) return done(refusal)
      counted.receivedEncodedLength = (counted.receivedEncodedLength ?? 0) + chunk.length
      done(null, chunk)
    },
  })
  counted.once('close', () => {
    payload.unpipe(counted)
    payload.resume()
  })
  reply.raw.once('close', () => counted.destroy())
  payload.once('error', (error) => counted.destroy(error))
  return payload.pipe(counted)
}

function statusOf(error: Error): number {
  if (isDatabaseUnavailable(error)) return 503
  if (error instanceof Problem) return errorTable[error.code].status
  return 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500
}

function textOf(status: number): string {
  const entry = Object.values(errorTable).find((candidate) => candidate.status === status)
  return (entry?.title ?? 'malformed').toLowerCase()
}
