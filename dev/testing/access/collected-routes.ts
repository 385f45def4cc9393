import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyInstance, FastifySchema, RouteOptions } from 'fastify'

export type CollectedRoute = {
  method: string
  url: string
  access: unknown
  /** The handler does nothing before its write, which decides. */
  decidesInWrite?: boolean
  /** For the app alone, which names the tenant. */
  namesTenant?: boolean
  /** An Idempotency-Key makes its write happen once. */
  takesKey?: boolean
  schema?: FastifySchema
}

/** Builds a server and collects every route that is registered, in all scopes. */
export async function collectRoutes<Built>(
  build: () => Promise<Built>,
): Promise<{ built: Built; routes: CollectedRoute[] }> {
  const routes: CollectedRoute[] = []
  const collect = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', function collectRoute(route: RouteOptions) {
      const { method, url, config, schema = {} } = route
      const access = config?.access
      const { decidesInWrite = false, namesTenant = false, idempotencyKey } = config ?? {}
      const takesKey = idempotencyKey === true
      for (const one of [method].flat()) {
        routes.push({ method: one, url, access, schema, decidesInWrite, namesTenant, takesKey })
      }
    })
  }
  subscribe('fastify.initialization', collect)
  const built = await build().finally(() => unsubscribe('fastify.initialization', collect))
  return { built, routes }
}
