import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'

const Ping = Type.Object({ of: Type.Integer() }, { description: 'Who asks' })

const routes = {
  user: { url: '/pings', operationId: 'pingMembers', summary: 'Ping the members' },
  audit: { url: '/audit-pings', operationId: 'pingAudit', summary: 'Ping who reads the log' },
  profile: { url: '/own-pings', operationId: 'pingSelf', summary: 'Ping yourself' },
  tenant: { url: '/tenant-pings', operationId: 'pingTenants', summary: 'Ping your tenants' },
} as const

/** Routes of an app that state rules of the core. */
const pings: FastifyPluginAsyncTypebox = async function pings(app) {
  for (const [resource, { url, ...described }] of Object.entries(routes)) {
    app.post(
      url,
      {
        config: { access: { resource, action: 'read' } },
        schema: { ...described, tags: ['pings'], response: { 202: Ping } },
      },
      async (request, reply) => {
        const of = await app.db.read(
          request.tenantPrincipalEntry,
          async (_tx, { userId }) => userId ?? 0,
        )
        return reply.code(202).send({ of })
      },
    )
  }
}

export default pings
