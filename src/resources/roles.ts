import { isHyphenated } from '#src/runtime/words.ts'
import type { Permission, Resource } from './kit/define.ts'
import { guardedOf } from './kit/fields/guarded.ts'

/** As the permissions of a role: every permission of the app. */
export const everything = 'everything'

/** The roles of an app and what each may do, the least first. */
export type Roles = Readonly<Record<string, readonly Permission[] | typeof everything>>

/** Who manages members, tenants, tokens and webhooks. */
export const managing = 'user:manage'

/** Specification, Roles and permissions: the roles of an app that declares none. */
const specified: Roles = {
  viewer: ['post:read'],
  editor: ['post:read', 'post:write'],
  admin: ['post:read', 'post:write', 'post:delete', managing],
}

type Declaring = {
  readonly resources: readonly Pick<Resource, 'name' | 'actions' | 'own' | 'fields' | 'visible'>[]
  readonly roles?: Roles
  readonly manages?: string
}

/** The role that manages users. */
export function managingRoleOf({ manages = 'admin' }: Declaring): string {
  return manages
}

/** The permissions of each role. The managing role has `user:manage`, even if the app does not list it. */
export function rolesOf(app: Declaring): Readonly<Record<string, readonly Permission[]>> {
  const { resources, roles = specified } = app
  const listed = Object.values(roles).flatMap((one) => (one === everything ? [] : one))
  const needed = resources.flatMap(({ actions, own, fields }) => [
    ...Object.values({ ...actions, ...own }).flatMap(({ permission }) => permission ?? []),
    ...guardedOf(fields).map(({ permission }) => permission),
  ])
  const all = [...new Set([...needed, ...listed])].filter((one) => one !== managing)
  return Object.fromEntries(
    Object.entries(roles).map(([role, permissions]) => {
      const own = permissions === everything ? all : permissions.filter((one) => one !== managing)
      return [role, role === managingRoleOf(app) ? [...own, managing] : own]
    }),
  )
}

/** What is wrong with the roles of an app, as a sentence; null if nothing is. */
export function roleFaultOf(app: Declaring): string | null {
  const { resources, roles = specified } = app
  const manager = managingRoleOf(app)
  const names = Object.keys(roles)
  const strange = names.find((one) => !isHyphenated(one) || one.length > 40)
  if (strange !== undefined) {
    return `The role ${strange} is not lower-case words with hyphens, of at most 40 characters.`
  }
  const reserved = names.find((one) => one === 'service' || one in Object.prototype)
  if (reserved !== undefined) {
    return `The role ${reserved} has a name that the program has for something else. Give it another one.`
  }
  if (!names.includes(manager)) {
    return `The role ${manager} manages users, but the app has no such role. Add it to roles, or name another one in manages.`
  }
  for (const { name, visible } of resources) {
    const unknown = visible?.roles.find((one) => !names.includes(one))
    if (unknown !== undefined) {
      return `The resource ${name} is seen by the role ${unknown}, which the app does not have. Add it to roles, or name another one.`
    }
  }
  const listed = Object.entries(roles).flatMap(([role, permissions]) =>
    permissions === everything ? [] : permissions.map((one) => [role, one] as const),
  )
  const ofFields = resources.flatMap(({ name, fields }) =>
    guardedOf(fields).map((one) => ({ name, ...one })),
  )
  const strangeOne = ofFields.find(({ permission }) => !permissionForm.test(permission))
  if (strangeOne !== undefined) {
    return `The resource ${strangeOne.name} has the permission ${strangeOne.permission} for its field ${strangeOne.key}, which is not of the form resource:action.`
  }
  const malformed = listed.find(([, one]) => !permissionForm.test(one))
  if (malformed !== undefined) {
    return `The role ${malformed[0]} has the permission ${malformed[1]}, which is not of the form resource:action.`
  }
  const second = listed.find(([role, one]) => one === managing && role !== manager)
  if (second !== undefined) {
    return `The role ${second[0]} has the permission ${managing}, which only the role ${manager} can have.`
  }
  const held = new Set(Object.values(rolesOf(app)).flat())
  for (const { name, actions, own, fields } of resources) {
    const { key, permission = '' } =
      guardedOf(fields).find((one) => !held.has(one.permission)) ?? {}
    if (key !== undefined) {
      return `The resource ${name} needs ${permission} for its field ${key}, which no role has. Give it to a role.`
    }
    for (const [action, { permission }] of Object.entries({ ...actions, ...own })) {
      if (permission !== null && !held.has(permission)) {
        return `The resource ${name} needs ${permission} for ${action}, which no role has. Give it to a role.`
      }
    }
  }
  return null
}

const permissionForm = /^[a-z]+(-[a-z]+)*:[a-z]+(-[a-z]+)*$/

/** The function by which functions of the database know who manages a tenant. */
export function managingRoleFunction(app: Declaring): string {
  return `-- The role that manages users. The app names it.
CREATE OR REPLACE FUNCTION managing_role() RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '${managingRoleOf(app)}';

`
}
