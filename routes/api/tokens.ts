import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { Caller } from '#src/access/caller.ts'
import {
  appTokenActions,
  type ProgramTokenActions,
  serviceTokenActions,
} from '#src/auth/tokens/actions.ts'
import {
  createApiToken,
  deleteApiToken,
  getApiToken,
  listApiTokens,
} from '#src/auth/tokens/api-token-actions.ts'
import type { Entry } from '#src/db/entry.ts'

/** The tokens of the app. Operators manage them with a session; no token can. */
export const appTokens: FastifyPluginAsyncTypebox = async function appTokens(app) {
  addRoutes(app, '/app-tokens', appTokenActions, ({ sessionEntry }) => sessionEntry)
}

/** The service tokens of the tenant. Admins manage them with a session; no token can. */
export const serviceTokens: FastifyPluginAsyncTypebox = async function serviceTokens(app) {
  addRoutes(app, '/service-tokens', serviceTokenActions, ({ tenantEntry }) => tenantEntry)
}

/** The caller's API tokens. They are managed with a session; a token cannot create tokens. */
export const apiTokens: FastifyPluginAsyncTypebox = async function tokens(app) {
  const at = { entryOf: ({ sessionEntry }: FastifyRequest) => sessionEntry, head: false }
  app.api('POST /auth/tokens', createApiToken, at)
  app.api('GET /auth/tokens', listApiTokens, at)
  app.api('GET /auth/tokens/:id', getApiToken, at)
  app.api('DELETE /auth/tokens/:id', deleteApiToken, at)
}

function addRoutes<Holder extends Caller>(
  app: Parameters<FastifyPluginAsyncTypebox>[0],
  path: `/${string}`,
  actions: ProgramTokenActions<Holder>,
  entryOf: (request: FastifyRequest) => Entry<Holder>,
): void {
  const at = { entryOf, head: false }
  app.api(`GET ${path}`, actions.list, at)
  app.api(`POST ${path}`, actions.create, at)
  app.api(`GET ${path}/:id`, actions.get, at)
  app.api(`PATCH ${path}/:id`, actions.update, at)
  app.api(`POST ${path}/:id/rotate-secret`, actions.rotate, at)
  app.api(`DELETE ${path}/:id`, actions.remove, at)
}
