import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import {
  createApiToken,
  deleteApiToken,
  getApiToken,
  listApiTokens,
} from '#src/auth/api-tokens/actions.ts'

const at = { entryOf: ({ sessionEntry }: FastifyRequest) => sessionEntry, head: false }

/** The caller's API tokens. They are managed with a session; a token cannot create tokens. */
const tokens: FastifyPluginAsyncTypebox = async function tokens(app) {
  app.api('POST /auth/tokens', createApiToken, at)
  app.api('GET /auth/tokens', listApiTokens, at)
  app.api('GET /auth/tokens/:id', getApiToken, at)
  app.api('DELETE /auth/tokens/:id', deleteApiToken, at)
}

export default tokens
