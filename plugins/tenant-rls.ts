import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { permissionsOf } from '#src/access/roles.ts'
import type { Actor } from '#src/audit/audit.ts'
import type { Scope } from '#src/db/database.ts'
import { Problem } from '#src/http/problems.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Tenant and user of the verified session. `app.db` sets them for each transaction
     * (`app.tenant_id`, `app.user_id`), where row-level security reads them.
     */
    readonly tenantScope: Required<Scope>
    /** The same with where the request came from, for changes that are audited. */
    readonly actor: Actor
  }
}

/** Every route of the scope works inside the session's tenant; no header or body can name one. */
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

/** A member has a role of the table; without one a tenant is not the caller's to work in. */
async function requireTenant(request: FastifyRequest): Promise<void> {
  const { tenantId, role } = request.caller
  if (tenantId !== null && permissionsOf(role).length > 0) return
  throw new Problem('forbidden')
}
