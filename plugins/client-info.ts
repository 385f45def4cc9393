import fp from 'fastify-plugin'
import { type Device, deviceOf } from '#src/audit/audit.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Where the request came from, as the audit log keeps it. */
    readonly device: Device
  }
}

/** What tells the devices of a person apart, for everything that is audited. */
export default fp(
  async function device(app) {
    app.decorateRequest('device', {
      getter() {
        return deviceOf(this.ip, this.headers['user-agent'])
      },
    })
  },
  { name: 'device', fastify: '5.x' },
)
