import type { Principal } from '#src/access/caller.ts'
import { servicePermissions } from '#src/access/policy.ts'
import { assignablePermissions, tokenPermissions } from '#src/access/roles.ts'
import { scopeUserId } from '#src/access/scope.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { oneStatement } from '#src/db/sql.ts'

/** Who sent a request, as the app behind the proxy is told. */
export type Identity = {
  /** The id of the user; `service:` and the id of the token for a service. */
  readonly subject: string
  /** Null for a service. */
  readonly userId: number | null
  readonly tenantId: string | null
  readonly role: string | null
  /** Null unless a provider trusted for it has verified it. */
  readonly email: string | null
  readonly permissions: readonly string[]
  readonly plan: string | null
}

type EmailRow = { email_verified: boolean }

/** The caller and their identity. */
export const findIdentity = oneStatement(
  Prisma.sql`SELECT email_verified FROM users WHERE id = ${scopeUserId}`,
  ([row]: EmailRow[], caller: Principal) => ({
    caller,
    identity: toIdentity(caller, row?.email_verified === true),
  }),
)

function toIdentity(caller: Principal, isEmailVerified: boolean): Identity {
  const { userId, serviceId, tenantId, role, plan } = caller
  return {
    subject: serviceId === null ? String(userId) : `service:${serviceId}`,
    ...{ userId, tenantId, role, plan },
    email: isEmailVerified ? caller.email : null,
    permissions: permissionsHeld(caller),
  }
}

/**
 * The permissions of the caller that a proxy can ask for. An unlimited credential of a person has what
 * any token of theirs can.
 */
function permissionsHeld({
  serviceId,
  role,
  tokenPermissions: limit,
}: Principal): readonly string[] {
  if (serviceId !== null) return limit ?? []
  if (role === null) return [] // of no tenant
  const all = assignablePermissions(role)
  return limit === null ? all : all.filter((permission) => limit.includes(permission))
}

/** Everything that a proxy can ask for: permissions of roles, of limited tokens and of services. */
export const knownPermissions: readonly string[] = [
  ...new Set([...tokenPermissions, ...servicePermissions]),
]

/** What a proxy asks for beyond an identity. */
export type Demand = { readonly permission?: string; readonly plan?: string }

/** Decides whether the caller has what the proxy asks for. Denied unless they have all of it. */
export function decideDemand(
  caller: Principal,
  { permission, plan }: Demand,
): 'allowed' | 'permission-missing' | 'plan-missing' {
  const isMissing = permission !== undefined && !permissionsHeld(caller).includes(permission)
  if (isMissing) return 'permission-missing'
  if (plan !== undefined && caller.plan !== plan) return 'plan-missing'
  return 'allowed'
}
