import type { RouteOptions } from 'fastify'
import fp from 'fastify-plugin'
import findMyWay, { type HTTPMethod } from 'find-my-way'
import { onFirstUse } from '#src/runtime/lazy.ts'

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
    const routes: RouteOptions[] = []
    const known = new Set<HTTPMethod>()
    app.addHook('onRoute', function collectRoute(route: RouteOptions) {
      routes.push(route)
    })
    // Few requests ask, and a second router would make the start longer.
    const router = onFirstUse(() => {
      const made = findMyWay(app.initialConfig.routerOptions)
      for (const route of routes) {
        for (const method of [route.method].flat()) {
          if (!isRoutable(method)) continue
          known.add(method)
          made.on(method, route.url, ignore, route)
        }
      }
      return made
    })
    app.decorate('allowedMethods', (path: string) => {
      const made = router()
      return [...known].filter((method) => made.find(method, path) !== null).sort()
    })
    app.decorate('routeAt', (method: string, path: string) =>
      isRoutable(method) ? (router().find(method, path)?.store ?? null) : null,
    )
  },
  { name: 'allowed-methods', fastify: '5.x' },
)

/** Fastify also names methods in lower case, and QUERY, in its types. */
function isRoutable(method: string): method is HTTPMethod {
  return /^[A-Z-]+$/.test(method) && method !== 'QUERY'
}

function ignore(): void {}
