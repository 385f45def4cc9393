/** Specification, Roles and permissions, word for word. A role not in this table has none. */
export const rolePermissions = {
  viewer: ['post:read'],
  editor: ['post:read', 'post:write'],
  admin: ['post:read', 'post:write', 'post:delete', 'user:manage'],
} as const satisfies Record<string, readonly Permission[]>

export const roles = [
  'viewer',
  'editor',
  'admin',
] as const satisfies (keyof typeof rolePermissions)[]

export type Permission = 'post:read' | 'post:write' | 'post:delete' | 'user:manage'

/** The permissions of a role; none for a role that is not in the table. */
export function permissionsOf(role: string | null): readonly Permission[] {
  return role !== null && Object.hasOwn(rolePermissions, role)
    ? rolePermissions[role as keyof typeof rolePermissions]
    : []
}

/** The roles that have a permission. */
export function rolesWith(permission: Permission): string[] {
  return Object.keys(rolePermissions).filter((role) => permissionsOf(role).includes(permission))
}

// Contract 8: what a limited token may name beside the table's permissions.
const tokenOnlyPermissions = [
  'order:read',
  'order:write',
  'invoice:read',
  'document:read',
  'document:write',
] as const

export type TokenPermission = Permission | (typeof tokenOnlyPermissions)[number]

/** Everything a token can be limited to. */
export const tokenPermissions: readonly TokenPermission[] = [
  ...rolePermissions.admin,
  ...tokenOnlyPermissions,
]

/** What somebody in `role` may give a token: their own permissions and the resources' own. */
export function assignablePermissions(role: string | null): readonly string[] {
  return [...permissionsOf(role), ...tokenOnlyPermissions]
}

/**
 * What the caller may do right now: the role's permissions; of a limited token those it names and
 * its owner still has.
 * @param limit the token's permissions; null where nothing limits
 */
export function effectivePermissions(
  role: string | null,
  limit: readonly string[] | null,
): readonly string[] {
  if (limit === null) return permissionsOf(role)
  return assignablePermissions(role).filter((permission) => limit.includes(permission))
}
