/** Specification, Roles and permissions, word for word. A role not in this table has none. */
export const rolePermissions = {
  viewer: ['post:read'],
  editor: ['post:read', 'post:write'],
  admin: ['post:read', 'post:write', 'post:delete', 'user:manage'],
} as const satisfies Record<string, readonly Permission[]>

export type Permission = 'post:read' | 'post:write' | 'post:delete' | 'user:manage'

/** The permissions of a role; none for a role that is not in the table. */
export function permissionsOf(role: string | null): readonly Permission[] {
  return role !== null && Object.hasOwn(rolePermissions, role)
    ? rolePermissions[role as keyof typeof rolePermissions]
    : []
}
