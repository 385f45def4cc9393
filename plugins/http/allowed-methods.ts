import type { FastifyInstance, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import findMyWay, { type HTTPMethod } from 'find-my-way'

declare module 'fastify' {
  interface FastifyInstance {
    /** The methods of the routes for a path, sorted; none for an unknown path. */
    allowedMethods(path: string): readonly string[]
    /** The route for a request; null if there is none. */
    routeAt(method: string, path: string): RouteOptions | null
  }
}

/**
 * Knows the routes of every path. The router is Fastify's own with the same options, so a path has
 * the same routes here.
 */
export default fp(
  async function allowedMethods(app) {
    const router = findMyWay(app.initialConfig.routerOptions)
    const known = new Set<HTTPMethod>()
    app.addHook('onRoute', function collectMethod(this: FastifyInstance, route: RouteOptions) {
      for (const method of [route.method].flat()) {
        if (!isRoutable(method)) continue
        known.add(method)
        router.on(method, route.url, ignore, route)
      }
    })
    app.decorate('allowedMethods', (path: string) =>
      [...known].filter((method) => router.find(method, path) !== null).sort(),
    )
    app.decorate('routeAt', (method: string, path: string) =>
      isRoutable(method) ? (router.find(method, path)?.store ?? null) : null,
    )
  },
  { name: 'allowed-methods', fastify: '5.x' },
)

/** Fastify also names methods in lower case, and QUERY, in its types. */
function isRoutable(method: string): method is HTTPMethod {
  return /^[A-Z-]+$/.test(method) && method !== 'QUERY'
}

function ignore(): void {}
