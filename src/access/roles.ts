import type { Role } from '#src/config/role-names.ts'
import type { Permission } from '#src/resources/kit/define.ts'
import { tokenPermissionsOf } from '#src/resources/kit/derived.ts'
import { resources } from '#src/resources/running-app.ts'

export type { Permission, TokenPermission } from '#src/resources/kit/define.ts'

/** Specification, Roles and permissions. A role that is not in this table has no permissions. */
export const rolePermissions = {
  viewer: ['post:read'],
  editor: ['post:read', 'post:write'],
  admin: ['post:read', 'post:write', 'post:delete', 'user:manage'],
} as const satisfies Record<Role, readonly Permission[]>

/** The permissions of a role; none for an unknown role. */
export function permissionsOf(role: string | null): readonly Permission[] {
  return role !== null && Object.hasOwn(rolePermissions, role)
    ? rolePermissions[role as keyof typeof rolePermissions]
    : []
}

/** The roles that have a permission. */
export function rolesWith(permission: Permission): string[] {
  return Object.keys(rolePermissions).filter((role) => permissionsOf(role).includes(permission))
}

/** Contract 8: further permissions that a token can be limited to, those of the declared resources. */
const tokenOnlyPermissions = tokenPermissionsOf(resources, rolePermissions.admin)

/** All permissions that a token can be limited to. */
export const tokenPermissions: readonly string[] = [
  ...rolePermissions.admin,
  ...tokenOnlyPermissions,
]

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
