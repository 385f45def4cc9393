import fp from 'fastify-plugin'
import type {
  App,
  Caller,
  Member,
  Principal,
  TenantApp,
  TenantPrincipal,
} from '#src/access/caller.ts'
import { toProblem } from '#src/access/policy.ts'
import { type Entry, refine } from '#src/db/entry.ts'
import { Problem } from '#src/http/problems.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Opens a transaction in the tenant of the session or token. The entering statement sets the
     * tenant for this transaction, where row-level security reads it; no header or body can name one.
     */
    readonly tenantEntry: Entry<Member>
    /** Opens a transaction as `tenantEntry` does, also for a service, and for an app in the tenant that it names. */
    readonly tenantPrincipalEntry: Entry<TenantPrincipal>
  }
}

/** Routes on tenant rows are registered in a scope of this plugin. */
export default fp(
  async function tenantRls(app) {
    app.decorateRequest('tenantEntry', {
      getter() {
        return refine(this.entry, requireTenant)
      },
    })
    app.decorateRequest('tenantPrincipalEntry', {
      getter() {
        return refine(this.principalEntry, requireTenantPrincipal)
      },
    })
  },
  { name: 'tenant-rls', fastify: '5.x', dependencies: ['authz'] },
)

function requireTenantPrincipal(caller: Principal): TenantPrincipal {
  if (caller.isApp) return requireNamedTenant(caller)
  return caller.serviceId === null ? requireTenant(caller) : caller
}

/** The same 404 for a tenant that is missing and one that was closed. */
function requireNamedTenant(app: App): TenantApp {
  const { tenantId } = app
  if (tenantId === null) throw new Problem('not-found')
  return { ...app, tenantId }
}

function requireTenant(caller: Caller): Member {
  const { tenantId } = caller
  if (tenantId === null) throw toProblem('no-tenant')
  return { ...caller, tenantId }
}
