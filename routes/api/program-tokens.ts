import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { appTokenActions } from '#src/auth/app-tokens/actions.ts'
import type { programTokenActions } from '#src/auth/program-tokens/actions.ts'
import { serviceTokenActions } from '#src/auth/service-tokens/actions.ts'
import type { Entry } from '#src/db/entry.ts'

/** The tokens of the app. Operators manage them with a session; no token can. */
export const appTokens: FastifyPluginAsyncTypebox = async function appTokens(app) {
  addRoutes(app, '/app-tokens', appTokenActions, ({ sessionEntry }) => sessionEntry)
}

/** The service tokens of the tenant. Admins manage them with a session; no token can. */
export const serviceTokens: FastifyPluginAsyncTypebox = async function serviceTokens(app) {
  addRoutes(app, '/service-tokens', serviceTokenActions, ({ tenantEntry }) => tenantEntry)
}

function addRoutes<Caller extends object>(
  app: Parameters<FastifyPluginAsyncTypebox>[0],
  path: `/${string}`,
  actions: ReturnType<typeof programTokenActions<Caller>>,
  entryOf: (request: FastifyRequest) => Entry<Caller>,
): void {
  const at = { entryOf, head: false }
  app.api(`GET ${path}`, actions.list, at)
  app.api(`POST ${path}`, actions.create, at)
  app.api(`GET ${path}/:id`, actions.get, at)
  app.api(`PATCH ${path}/:id`, actions.update, at)
  app.api(`POST ${path}/:id/rotate-secret`, actions.rotate, at)
  app.api(`DELETE ${path}/:id`, actions.remove, at)
}
