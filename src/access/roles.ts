import type { Permission } from '#src/resources/kit/define.ts'
import { tokenPermissionsOf } from '#src/resources/kit/derived.ts'
import { managingRoleOf, rolesOf } from '#src/resources/roles.ts'
import { app, resources } from '#src/resources/running-app.ts'

export type { Permission, TokenPermission } from '#src/resources/kit/define.ts'

/** The permissions of each role of the app, the least first. A role that is not in this table has none. */
export const rolePermissions = rolesOf(app)

/** The names of the roles, in the order of the app. */
export const roles: readonly string[] = Object.keys(rolePermissions)

/** The role that manages members, tokens and webhooks of a tenant, and that its founder has. */
export const managingRole = managingRoleOf(app)

/** What somebody is invited as, unless another role is chosen. */
export const leastRole = roles.find((role) => role !== managingRole) ?? managingRole

/** The permissions of a role; none for an unknown role. */
export function permissionsOf(role: string | null): readonly Permission[] {
  return role !== null && Object.hasOwn(rolePermissions, role) ? (rolePermissions[role] ?? []) : []
}

/** The roles that have a permission. */
export function rolesWith(permission: Permission): string[] {
  return Object.keys(rolePermissions).filter((role) => permissionsOf(role).includes(permission))
}

/** Contract 8: further permissions that a token can be limited to, those of the declared resources. */
const ofRoles = [...new Set([managingRole, ...roles].flatMap(permissionsOf))]
const tokenOnlyPermissions = tokenPermissionsOf(resources, ofRoles)

/** All permissions that a token can be limited to. */
export const tokenPermissions: readonly string[] = [...ofRoles, ...tokenOnlyPermissions]

/** The permissions that a user with `role` may give to a token: those of the role, and token-only ones. */
export function assignablePermissions(role: string | null): readonly string[] {
  return [...permissionsOf(role), ...tokenOnlyPermissions]
}

/**
 * The current permissions of a caller: those of the role, or those of a limited token that its owner
 * still has.
 * @param limit the permissions of a limited token; null otherwise
 */
export function effectivePermissions(
  role: string | null,
  limit: readonly string[] | null,
): readonly string[] {
  if (limit === null) return permissionsOf(role)
  return assignablePermissions(role).filter((permission) => limit.includes(permission))
}
