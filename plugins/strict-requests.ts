import type { RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { isForm } from '#src/http/params.ts'
import { Problem } from '#src/http/problems.ts'
import { hasBody } from '#src/http/request-body.ts'
import { NoQuery } from '#src/http/schemas.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** An operation that a form of our pages submits to as well. */
    acceptsForm?: true
  }
}

/**
 * Nothing that a client sends to an operation of the API is silently ignored: unknown query parameters
 * are 400, also where there are none, and bodies that are not JSON are 415. Pages accept forms, and
 * any query parameter, such as those of a newsletter.
 */
export default fp(
  async function strictRequests(app) {
    app.addHook('onRoute', function beStrict(route: RouteOptions) {
      const { config, schema } = route
      if (schema === undefined || schema.hide || typeof config?.access !== 'object') return
      schema.querystring ??= NoQuery
      if (config.acceptsForm) return
      route.preParsing = [...[route.preParsing ?? []].flat(), refuseForm]
    })
  },
  { name: 'strict-requests', fastify: '5.x' },
)

/** The parser of forms is there for the pages of the same scope. */
const refuseForm: Extract<RouteOptions['preParsing'], (...args: never[]) => void> =
  function refuseForm({ headers }, _reply, payload, done) {
    const refused = isForm(headers['content-type']) && hasBody(headers)
    done(refused ? new Problem('unsupported-media-type') : null, payload)
  }
