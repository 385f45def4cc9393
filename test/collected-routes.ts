import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyInstance, RouteOptions } from 'fastify'

export type CollectedRoute = { method: string; url: string; access: unknown }

/** Builds a server and lists every route that is registered meanwhile, in whichever scope. */
export async function collectRoutes<Built>(
  build: () => Promise<Built>,
): Promise<{ built: Built; routes: CollectedRoute[] }> {
  const routes: CollectedRoute[] = []
  const collect = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', function collectRoute({ method, url, config }: RouteOptions) {
      for (const one of [method].flat()) routes.push({ method: one, url, access: config?.access })
    })
  }
  subscribe('fastify.initialization', collect)
  const built = await build().finally(() => unsubscribe('fastify.initialization', collect))
  return { built, routes }
}
