import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { acceptsHtml, isForm } from '#src/http/headers/media-type.ts'
import { Problem } from '#src/http/problems.ts'
import { hasBody } from '#src/http/request-body.ts'
import { NoQuery } from '#src/http/schemas.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** An operation that a form of our pages submits to as well. */
    acceptsForm?: true
    /** Its headers are those of another request, whose conditions and keys are not for us. */
    forwardsHeaders?: true
  }
}

const readMethods = ['GET', 'HEAD']

/**
 * Nothing that a client sends to an operation of the API is silently ignored: unknown query parameters
 * are 400, also where there are none, as are conditions and keys that the operation does not take, and
 * bodies that are not JSON are 415. Pages accept forms, and ignore unknown query parameters such as
 * `utm_source`.
 */
export default fp(
  async function strictRequests(app) {
    app.addHook('onRoute', function beStrict(route: RouteOptions) {
      const { config, schema, method } = route
      const isPage = schema?.hide || schema?.produces?.includes('text/html')
      if (isPage && schema?.querystring !== undefined) {
        const known = parametersOf(Object(schema.querystring))
        const drop = schema.hide ? dropUnknown(known) : forBrowsers(dropUnknown(known))
        route.preValidation = [drop, ...[route.preValidation ?? []].flat()]
      }
      if (schema === undefined || schema.hide || typeof config?.access !== 'object') return
      schema.querystring ??= NoQuery
      const isRead = [method].flat().every((one) => readMethods.includes(one))
      const { properties = {} } = Object(schema.headers)
      if (!config.forwardsHeaders) {
        route.preHandler = [
          refuseHeaders(untaken(isRead).filter((name) => !(name.toLowerCase() in properties))),
          ...[route.preHandler ?? []].flat(),
        ]
      }
      if (isRead || config.acceptsForm) return
      route.preParsing = [...[route.preParsing ?? []].flat(), refuseForm]
    })
  },
  { name: 'strict-requests', fastify: '5.x', dependencies: ['preconditions', 'idempotency'] },
)

/** A read may answer without regard to tags; a change with `If-None-Match: *` must not. */
function untaken(isRead: boolean): string[] {
  return ['If-Match', 'Idempotency-Key', ...(isRead ? [] : ['If-None-Match'])]
}

/** @param names headers that change what a request does, and that the operation does not take */
function refuseHeaders(names: readonly string[]) {
  const keys = names.map((name) => name.toLowerCase())
  return function refuseHeaders(
    { headers }: FastifyRequest,
    _reply: FastifyReply,
    done: HookHandlerDoneFunction,
  ): void {
    const found = keys.findIndex((key) => headers[key] !== undefined)
    if (found === -1) done()
    else throw new Problem('malformed', { detail: `This operation takes no ${names[found]}.` })
  }
}

/** @param query a schema of an object, or of one of several */
function parametersOf(query: object): string[] {
  const { properties = {}, anyOf = [] } = query as { properties?: object; anyOf?: object[] }
  return [...Object.keys(properties), ...anyOf.flatMap(parametersOf)]
}

/** @param known the query parameters of a page */
function dropUnknown(known: readonly string[]) {
  return async function dropUnknownParameters(request: FastifyRequest): Promise<void> {
    const given = Object.entries(Object(request.query))
    request.query = Object.fromEntries(given.filter(([name]) => known.includes(name)))
  }
}

/** An operation that answers with a page, such as the start of a sign-in, is strict with programs alone. */
function forBrowsers(hook: ReturnType<typeof dropUnknown>) {
  return async function dropUnknownInBrowsers(request: FastifyRequest): Promise<void> {
    if (acceptsHtml(request.headers.accept)) await hook(request)
  }
}

/** The parser of forms is there for the pages of the same scope. */
const refuseForm: Extract<RouteOptions['preParsing'], (...args: never[]) => void> =
  function refuseForm({ headers }, _reply, payload, done) {
    const refused = isForm(headers['content-type']) && hasBody(headers)
    done(refused ? new Problem('unsupported-media-type') : null, payload)
  }
