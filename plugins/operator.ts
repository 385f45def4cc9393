import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { findSessionIdentities } from '#src/auth/sessions/sessions.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the session's own identity is one of the setting OPERATORS. */
    operator: boolean
  }
}

/**
 * Finds out whether an operator is asking, before authz decides. It is a fact of the identity that
 * signed in, read anew with every request; no role in a tenant makes one.
 */
export default fp<{ operators: ReadonlySet<string> }>(
  async function operator(app, { operators }) {
    app.decorateRequest('operator', false)
    app.addHook('onRequest', async function findOperator(request: FastifyRequest) {
      const sessionId = request.session?.caller?.sessionId
      // Without a session nobody is one; where nobody is, there is nothing to ask the database.
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
