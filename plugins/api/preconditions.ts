import type { DoneFuncWithErrOrRes, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import Type, { type TSchema } from 'typebox'
import { isKnown, isMatched, tagOf, wantedTags } from '#src/http/headers/etag.ts'
import { Problem } from '#src/http/problems.ts'
import { EntityTags, withHeader, withProblems } from '#src/http/schemas.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The schema of the object that the route reads, creates, changes or deletes, whose ETag clients
     * can use. Every operation that changes an object states it, or false.
     */
    versioned?: TSchema | false
    /** Whether a POST compares `If-Match` with the object that its path names. */
    comparesMatch?: true
  }
  interface FastifyReply {
    /**
     * Checks `If-Match`, if the request has it, in the transaction of the change.
     * @param lock reads the object as the route responds with it, locked until the transaction ends;
     *   null if it is missing, which the change itself answers
     * @throws Problem `precondition-failed` if the object has changed since the client read it
     */
    ifMatch(lock: () => Promise<object | null>): Promise<void>
    /**
     * The tags of `If-Match`, for a statement that changes only an object with one of them; null for any
     * object. If it changes none, `ifMatch` finds out why.
     */
    takeIfMatch(): readonly string[] | null
    isMatchChecked: boolean
  }
}

const Tags = Type.String({
  ...EntityTags,
  description:
    'The ETag of the object as you read it. If it has changed since then, nothing is done: 412.',
})

/**
 * `ETag`, `If-Match` and `If-None-Match` (RFC 9110): a client changes only what it has read, and reads
 * again only what has changed. The tag is that of the JSON. A change compares it in its statement, or in its
 * transaction with the row locked.
 */
export default fp(
  async function preconditions(app) {
    app.decorateReply('ifMatch', ifMatch)
    app.decorateReply('takeIfMatch', takeIfMatch)
    app.decorateReply('isMatchChecked', false)
    app.addHook('onRoute', describePreconditions)
  },
  { name: 'preconditions', fastify: '5.x' },
)

/** @throws if an operation that changes an object does not state `versioned` */
function describePreconditions(route: RouteOptions): void {
  const { config, schema, method, url } = route
  if (schema === undefined || schema.hide || typeof config?.access !== 'object') return
  if (method === 'PATCH' && config.versioned === undefined) {
    throw new Error(`PATCH ${url} does not state config.versioned.`)
  }
  const isChange = method === 'PATCH' || method === 'DELETE' || config.comparesMatch === true
  if (config.versioned && isChange) {
    schema.headers = withHeader(schema.headers, 'if-match', Tags)
    schema.response = withProblems(Object(schema.response), 412)
  }
  if (config.versioned) route.onSend = [tagResponse, ...[route.onSend ?? []].flat()]
}

async function ifMatch(this: FastifyReply, lock: () => Promise<object | null>): Promise<void> {
  this.isMatchChecked = true
  const { headers, routeOptions } = this.request
  const { versioned } = routeOptions.config
  const wanted = headers['if-match']
  if (wanted === undefined) return
  if (!versioned) throw new Error(`${routeOptions.url} does not state config.versioned.`)
  const current = await lock()
  if (current === null) return
  const serialize = this.compileSerializationSchema(versioned as unknown as Record<string, unknown>)
  if (!isMatched(wanted, tagOf(serialize({ ...current })))) throw new Problem('precondition-failed')
}

function takeIfMatch(this: FastifyReply): readonly string[] | null {
  this.isMatchChecked = true
  return wantedTags(this.request.headers['if-match'])
}

function tagResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: DoneFuncWithErrOrRes,
): void {
  const { method, headers, routeOptions } = request
  if (reply.statusCode >= 300) {
    done(null, payload)
    return
  }
  // A replayed response was made by a request that checked `If-Match`.
  if (headers['if-match'] !== undefined && !reply.isMatchChecked && !request.isReplayed) {
    done(new Error(`${method} ${routeOptions.url} does not check If-Match.`))
    return
  }
  if (typeof payload !== 'string' || payload === '') {
    done(null, payload)
    return
  }
  const tag = tagOf(payload)
  reply.header('etag', tag)
  const isUnchanged = ['GET', 'HEAD'].includes(method) && isKnown(headers['if-none-match'], tag)
  if (!isUnchanged) {
    done(null, payload)
    return
  }
  reply.code(304).removeHeader('content-type').removeHeader('content-length')
  done(null, null)
}
