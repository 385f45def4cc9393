import {
  type Claim,
  type Contract,
  permits as permitsBy,
  permitsService as permitsServiceBy,
  type RuleRow,
} from '#dev/testing/access/rules.ts'
import { rulesOf, servicePermissionsOf, tokenPermissionsOf } from '#test/resources/description.ts'
import { descriptions, rolesOfApp } from '#test/resources/index.ts'

/*
 * The access rules a second time, written from the specification and the contract, independently of
 * src/access. The tests compare the program with them.
 */

/** Specification, Roles and permissions; or those of the app. */
export const roles: Readonly<Record<string, readonly string[]>> = rolesOfApp ?? {
  viewer: ['post:read'],
  editor: ['post:read', 'post:write'],
  admin: ['post:read', 'post:write', 'post:delete', 'user:manage'],
}

/** Contract 8: everything a token can be limited to. */
export const tokenPermissions: readonly string[] = [
  ...(roles.admin ?? []),
  ...tokenPermissionsOf(descriptions, roles.admin ?? []),
]

/** Everything that a service token can be permitted to do: what belongs to the tenant and to no person. */
export const servicePermissions: readonly string[] = [
  ...servicePermissionsOf(descriptions),
  'folder:read',
  'folder:create',
  'folder:update',
  'folder:delete',
  'team:read',
  'team:create',
  'team:update',
  'team:delete',
  'user:read',
  'webhook-endpoint:read',
  'webhook-endpoint:create',
  'webhook-endpoint:update',
  'webhook-endpoint:delete',
  'delivery:read',
  'delivery:replay',
  'event:read',
  'notification:read',
  'audit:read',
  'usage:read',
]

/** beside-your-app.md: everything that an app token can be permitted to do. */
export const appPermissions: readonly string[] = [
  'event:publish',
  'event-type:read',
  'event-type:update',
  'portal-link:create',
  'portal-link:delete',
  'member:read',
  'webhook-endpoint:read',
  'webhook-endpoint:create',
  'webhook-endpoint:delete',
]

/** beside-your-app.md, 3: everything that a portal session does, and nothing else. */
export const portalPermissions: readonly string[] = [
  'webhook-endpoint:read',
  'webhook-endpoint:create',
  'webhook-endpoint:update',
  'webhook-endpoint:delete',
  'delivery:read',
  'delivery:replay',
  'event:read',
]

const adminInSession = {
  reach: 'tenant',
  permission: 'user:manage',
  credential: 'session',
} as const
const recentAdmin = { ...adminInSession, credential: 'recent-session' } as const

const manages = { reach: 'tenant', permission: 'user:manage', token: 'user:manage' } as const

/** Contract 3 and 8. */
export const rules: Readonly<Record<string, RuleRow>> = {
  ...rulesOf(descriptions),
  'folder:read': manages,
  'folder:create': manages,
  'folder:update': manages,
  'folder:delete': manages,
  'team:read': manages,
  'team:create': manages,
  'team:update': manages,
  'team:delete': manages,
  'user:read': manages,
  'user:create': manages,
  'user:update': manages,
  'user:delete': manages,
  'webhook-endpoint:read': manages,
  'webhook-endpoint:create': manages,
  'webhook-endpoint:update': manages,
  'webhook-endpoint:delete': manages,
  'delivery:read': manages,
  'delivery:replay': manages,
  'event:read': manages,
  'notification:read': manages,
  'audit:read': manages,
  'usage:read': manages,
  'billing-event:read': { reach: 'operator', credential: 'session' },
  'billing-event:replay': { reach: 'operator', credential: 'session' },
  'billing-event:update': { reach: 'operator', credential: 'session' },
  'operation:read': { reach: 'operator', credential: 'session' },
  'billing-customer:read': { reach: 'operator', credential: 'session' },
  'billing-customer:update': { reach: 'operator', credential: 'recent-session' },
  'app-token:read': { reach: 'operator', credential: 'session' },
  'app-token:create': { reach: 'operator', credential: 'recent-session' },
  'app-token:update': { reach: 'operator', credential: 'recent-session' },
  'app-token:delete': { reach: 'operator', credential: 'session' },
  'event:publish': { reach: 'app' },
  'event-type:read': { reach: 'app' },
  'event-type:update': { reach: 'app' },
  'portal-link:create': { reach: 'app' },
  'portal-link:delete': { reach: 'app' },
  'member:read': { reach: 'app' },
  'tenant-name:update': adminInSession,
  'tenant-deletion:create': recentAdmin,
  'service-token:read': adminInSession,
  'service-token:create': recentAdmin,
  'service-token:update': recentAdmin,
  'service-token:delete': adminInSession,
  'profile:read': { reach: 'self' },
  'verification:read': { reach: 'self', anyService: true },
  'plan:create': { reach: 'self', credential: 'session' },
  'plan:update': { reach: 'self', credential: 'session' },
  'account:read': { reach: 'self', credential: 'session' },
  'account:delete': { reach: 'self', credential: 'recent-session' },
  'session:read': { reach: 'self', credential: 'session' },
  'session:delete': { reach: 'self', credential: 'session' },
  'token:read': { reach: 'self', credential: 'session' },
  'token:create': { reach: 'self', credential: 'recent-session' },
  'token:delete': { reach: 'self', credential: 'session' },
  'identity:read': { reach: 'self', credential: 'session' },
  'identity:create': { reach: 'self', credential: 'recent-session' },
  'identity:delete': { reach: 'self', credential: 'recent-session' },
  'tenant:read': { reach: 'self', credential: 'session' },
  'tenant:create': { reach: 'self', credential: 'session' },
  'tenant:update': { reach: 'self', credential: 'session' },
  'tenant:delete': { reach: 'self', credential: 'session' },
  'invitation:read': { reach: 'self', credential: 'session' },
  'invitation:update': { reach: 'self', credential: 'session' },
  'activity:read': { reach: 'self', credential: 'session' },
}

/** All of it, for the matrix. */
export const contract: Contract = {
  ...{ roles, rules },
  givable: { token: tokenPermissions, service: servicePermissions, app: appPermissions },
  ...{ services: servicePermissions, apps: appPermissions, portals: portalPermissions },
  /** The specification's attribute rule: editors only in their department, 09:00 ≤ now < 17:00 UTC. */
  forbids(actor, object) {
    if (actor.role !== 'editor') return false
    const sameDepartment = actor.department !== null && actor.department === object.department
    return !sameDepartment || actor.time < '09:00:00.000' || actor.time >= '17:00:00.000'
  },
}

/** Whether a service with these permissions may do it. The rule is `resource:action`. */
export function permitsService(rule: string, permissions: readonly string[]): boolean {
  return permitsServiceBy(contract, rule, permissions)
}

/** Whether the rule allows them to try; 403 otherwise. */
export function permits(rule: RuleRow, claim: Claim): boolean {
  return permitsBy(contract, rule, claim)
}
