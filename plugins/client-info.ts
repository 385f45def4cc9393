import fp from 'fastify-plugin'
import { type ClientInfo, clientInfoOf } from '#src/audit/audit.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Where the request came from, as the audit log keeps it. */
    readonly clientInfo: ClientInfo
  }
}

/** What tells the devices of a person apart, for everything that is audited. */
export default fp(
  async function clientInfo(app) {
    app.decorateRequest('clientInfo', {
      getter() {
        return clientInfoOf(this.ip, this.headers['user-agent'])
      },
    })
  },
  { name: 'client-info', fastify: '5.x' },
)
