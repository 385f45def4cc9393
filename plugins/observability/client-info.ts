import fp from 'fastify-plugin'
import { type ClientInfo, clientInfoOf } from '#src/audit/audit.ts'
import { clientAddressOf } from '#src/http/headers/client-address.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** IP address and user agent of the request, as recorded in the audit log. */
    readonly clientInfo: ClientInfo
  }
}

/** Provides the client's IP address and user agent for audit entries. */
export default fp(
  async function clientInfo(app) {
    app.decorateRequest('clientInfo', {
      getter() {
        return clientInfoOf(clientAddressOf(this), this.headers['user-agent'], this.id)
      },
    })
  },
  { name: 'client-info', fastify: '5.x' },
)
