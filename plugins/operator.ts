import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { findSessionIdentities } from '#src/auth/sessions/sessions.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** True if the session's identity is listed in the setting OPERATORS. */
    operator: boolean
  }
}

/**
 * Finds out whether the caller is an operator, before authz decides. It depends on the identity that
 * signed in and is read with every request; a role in a tenant does not matter.
 */
export default fp<{ operators: ReadonlySet<string> }>(
  async function operator(app, { operators }) {
    app.decorateRequest('operator', false)
    app.addHook('onRequest', async function findOperator(request: FastifyRequest) {
      const sessionId = request.session?.caller?.sessionId
      // Without a session or without configured operators, no query is needed.
      const identities =
        sessionId === undefined || operators.size === 0
          ? []
          : await findSessionIdentities(app.systemDb, sessionId)
      request.operator = identities.some(({ provider, subject }) =>
        operators.has(`${provider}:${subject}`),
      )
    })
  },
  { name: 'operator', fastify: '5.x', dependencies: ['session', 'database'] },
)
