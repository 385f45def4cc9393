import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Credential } from '#src/auth/sessions/enter.ts'
import type { Problem } from '#src/http/problems.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What the request came with; nothing is known yet about whether it is live. */
    credential: Credential | null
    /** Why what the request came with cannot be used; null if it can, or if there is nothing. */
    credentialFault: Problem | null
    /** Takes the credential away from the request. The fault becomes the response. */
    rejectCredential(fault: Problem): void
  }
}

/**
 * The credential of a request. The plugins that read it do not refuse a request themselves: they
 * reject the credential, the rate limit counts the request for its address, and then the fault is
 * thrown, here at the latest.
 */
export default fp(
  async function credential(app) {
    app.decorateRequest('credential', null)
    app.decorateRequest('credentialFault', null)
    app.decorateRequest('rejectCredential', rejectCredential)
    // Runs after the onRequest hooks of every scope, and before the body is read.
    app.addHook('preParsing', function refuseFault({ credentialFault }, _reply, payload, done) {
      done(credentialFault, payload)
    })
  },
  { name: 'credential', fastify: '5.x' },
)

function rejectCredential(this: FastifyRequest, fault: Problem): void {
  this.credential = null
  this.credentialFault = fault
}
