import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { permissionsOf } from '#src/access/roles.ts'
import type { Actor } from '#src/audit/audit.ts'
import type { Scope } from '#src/db/database.ts'
import { Problem } from '#src/http/problems.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Tenant and user of the caller. `app.db` sets them for each transaction (`app.tenant_id`,
     * `app.user_id`), and the row-level security policies read them.
     */
    readonly tenantScope: Required<Scope>
    /** The same with the client information, for audited changes. */
    readonly actor: Actor
  }
}

/** Every route of the scope works in the caller's tenant, which no header or body can choose. */
export default fp(
  async function tenantRls(app) {
    app.decorateRequest('tenantScope', {
      getter() {
        const { userId, tenantId } = this.caller
        if (tenantId === null) throw new Problem('forbidden')
        return { userId, tenantId }
      },
    })
    app.decorateRequest('actor', {
      getter() {
        return { ...this.tenantScope, clientInfo: this.clientInfo }
      },
    })
    app.addHook('onRequest', requireTenant)
  },
  { name: 'tenant-rls', fastify: '5.x', dependencies: ['authz', 'database', 'client-info'] },
)

/** Requires a tenant and a known role in it. */
async function requireTenant(request: FastifyRequest): Promise<void> {
  const { tenantId, role } = request.caller
  if (tenantId !== null && permissionsOf(role).length > 0) return
  throw new Problem('forbidden')
}
