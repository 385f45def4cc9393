import type { RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import { NoQuery } from '#src/http/schemas.ts'

/**
 * Operations of the API refuse query parameters that they do not know (400), also those without any:
 * nothing that a client sends is silently ignored. Pages accept any, such as those of a newsletter.
 */
export default fp(
  async function strictQuery(app) {
    app.addHook('onRoute', function refuseUnknownQuery({ config, schema }: RouteOptions) {
      const isOperation = typeof config?.access === 'object' && schema?.hide !== true
      if (isOperation && schema !== undefined) schema.querystring ??= NoQuery
    })
  },
  { name: 'strict-query', fastify: '5.x' },
)
