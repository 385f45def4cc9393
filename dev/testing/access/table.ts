import { policy, type Rule, servicePermissions } from '#src/access/policy.ts'
import { tokenPermissions } from '#src/access/roles.ts'
import { pathOf } from '#src/resources/kit/names.ts'
import { app } from '#src/resources/running-app.ts'
import type { TestPerson } from '../test-app.ts'
import { fieldRowsOf } from './guarded-fields.ts'
import type { Contract, RuleRow } from './rules.ts'

/**
 * Who may do it: roles of the app, and `service` for service tokens; or for each `all`, or `own` if they may only do
 * it to what they have made. Everybody else may not.
 */
export type AllowedCallers = readonly string[] | Readonly<Record<string, 'all' | 'own'>>

/** Who may do what with a resource. An action that the resource has not is left out. */
export type ResourceAccess = {
  /** Who reaches a row: the members of its tenant (by default), its owner, or the team of its folder. */
  readonly reach?: 'tenant' | 'owner' | 'chain'
  /**
   * A valid body of POST, or what makes one: for a person who may create it at this moment. A function is needed
   * where values must be unique. A row that it must refer to is made of the example of the other resource, unless
   * given.
   */
  readonly example: object | ((person: TestPerson) => object | Promise<object>)
  /** A valid body of PATCH; the example by default. */
  readonly change?: object
  /**
   * Each field with a permission: the roles that see it, and write it with what else they may write, and a value that
   * it can have.
   */
  readonly fields?: Readonly<
    Record<string, { readonly callers: readonly string[]; readonly value: unknown }>
  >
  /** Who sees which rows, if the declaration says so (`visible`): others do not exist for them. All by default. */
  readonly visible?: AllowedCallers
  readonly read: AllowedCallers
  readonly create?: AllowedCallers
  readonly update?: AllowedCallers
  readonly delete?: AllowedCallers
  /** Its own actions on a row, by their names. */
  readonly own?: Readonly<Record<string, RouteAccess>>
}

/** Who may call a route or an action of the app's own. */
export type RouteAccess = {
  readonly callers: AllowedCallers
  /** What a request sends, if it needs something. */
  readonly body?: object
}

/** Who may do what, written by hand: the program is compared with it. */
export type AccessTable = {
  /** By their names, such as `task`. */
  readonly resources?: Readonly<Record<string, ResourceAccess>>
  /** Routes of the app's own, such as `GET /report`. A path that begins as a resource's and has `:id` names its row. */
  readonly routes?: Readonly<Record<string, RouteAccess>>
  /** The plan that everybody who asks has. */
  readonly plan?: string
}

const actions = ['read', 'create', 'update', 'delete'] as const

/** What the table says of each rule, `resource:action` or a route of the app's own. */
function* rowsOf({ resources = {}, routes = {} }: AccessTable, of?: ReadonlyMap<unknown, string>) {
  for (const [name, access] of Object.entries(resources)) {
    for (const action of actions) {
      const callers = access[action]
      const reach = access.reach ?? 'tenant'
      if (callers !== undefined) yield { rule: `${name}:${action}`, reach, callers }
    }
    for (const [action, { callers }] of Object.entries(access.own ?? {})) {
      yield { rule: `${name}:${action}`, reach: access.reach ?? 'tenant', callers }
    }
  }
  for (const [rule, { callers }] of Object.entries(routes)) {
    const resource = resources[of?.get(rule)?.split(':')[0] ?? '']
    yield { rule, reach: resource?.reach ?? 'tenant', callers }
  }
}

/** What each caller of a row may do. */
export function reachesOf(callers: AllowedCallers): Map<string, 'all' | 'own'> {
  const named = Array.isArray(callers) ? callers.map((one) => [one, 'all'] as const) : null
  return new Map(named ?? Object.entries(callers as Record<string, 'all' | 'own'>))
}

/** With the lists below a row, each with the rule of the row (`readsToo`). */
export type WholeTable = AccessTable & {
  readonly routes?: Readonly<
    Record<string, RouteAccess & { readonly readsToo?: string; readonly shows?: string }>
  >
}

/** Lists below a row of another resource, such as `GET /projects/:id/tasks`: for whoever may read both. */
export function withNestedLists(
  table: AccessTable,
  routes: readonly { readonly method: string; readonly url: string }[],
): WholeTable {
  const { resources = {} } = table
  const nested: Record<string, NonNullable<WholeTable['routes']>[string]> = {}
  for (const below of app.resources) {
    for (const above of app.resources) {
      const url = `${pathOf(above)}/:id${pathOf(below)}`
      if (!routes.some((one) => one.method === 'GET' && one.url === url)) continue
      const both = [above, below].map(({ name }) => reachesOf(resources[name]?.read ?? []))
      nested[`GET ${url}`] = {
        ...{ readsToo: `${above.name}:read`, shows: below.name },
        callers: [...(both[0]?.keys() ?? [])].filter((one) => both[1]?.has(one)),
      }
    }
  }
  return { ...table, routes: { ...nested, ...table.routes } }
}

/**
 * The table in the words of the matrix. The permission that a limited token must name is the program's own: the table
 * says who, not how it is called.
 * @param routes those of the app's own state the rule that decides about them (`of`)
 */
export function contractOf(
  table: WholeTable,
  routes: readonly { readonly access: unknown; readonly of?: string }[],
): Contract {
  const declared = new Map(policy.map((one) => [`${one.resource}:${one.action}`, one]))
  const ofRoutes = new Map(
    routes.flatMap(({ access, of }) => (of === undefined ? [] : [[access, of] as const])),
  )
  const rules: Record<string, RuleRow> = {}
  const roles: Record<string, string[]> = {}
  const services: string[] = []
  const owners = new Map<string, Set<string>>()
  for (const { rule, reach, callers } of rowsOf(table, ofRoutes)) {
    const allowed = reachesOf(callers)
    const own = [...allowed].filter(([, which]) => which === 'own').map(([caller]) => caller)
    owners.set(rule, new Set(own))
    const token = declared.get(ofRoutes.get(rule) ?? rule)?.tokenPermission
    const tokenToo = declared.get(table.routes?.[rule]?.readsToo ?? '')?.tokenPermission
    const ofCore = declared.get(ofRoutes.get(rule) ?? '')
    rules[rule] = {
      ...{ reach, permission: rule, ...(ofCore && credentialsOf(ofCore)) },
      ...(ofCore?.forServices === 'always' && allowed.has('service') && { anyService: true }),
      ...(token != null && { token }),
      ...(tokenToo != null && { tokenToo }),
      ...(ofRoutes.has(rule) && { of: String(ofRoutes.get(rule)) }),
      ...(own.length > 0 && { attribute: true }),
    }
    const subject = ofCore ?? declared.get(rule)
    if (subject !== undefined) refuseImpossible(rule, subject, [...allowed.keys()])
    for (const caller of allowed.keys()) {
      if (caller === 'service') services.push(rule)
      else roles[caller] = [...(roles[caller] ?? []), rule]
    }
  }
  return {
    ...{ roles, rules, services, apps: [], portals: [], fields: fieldRowsOf(table) },
    givable: { token: tokenPermissions, service: servicePermissions, app: [] },
    sees({ role, userId }, { ownerId }, kind = '') {
      const { visible } = table.resources?.[kind] ?? {}
      if (visible === undefined) return true
      const which = reachesOf(visible).get(role)
      return which === 'all' || (which === 'own' && ownerId === userId)
    },
    forbids({ by, role, userId }, { ownerId }, rule) {
      return (
        owners.get(rule)?.has(by === 'service' ? 'service' : role) === true && ownerId !== userId
      )
    },
  }
}

/** Which credentials a rule of the core accepts: a route of the app's own may state it too. */
function credentialsOf({ scope, credential }: Rule): Partial<RuleRow> {
  return {
    ...((scope === 'self' || scope === 'operator' || scope === 'app') && { reach: scope }),
    ...(credential !== 'any' && { credential }),
  }
}

/** @throws Error if the table lets somebody do it whom the rule of the program never lets */
function refuseImpossible(row: string, rule: Rule, callers: readonly string[]): void {
  const { resource, action, scope, forServices } = rule
  const said = `The table lets ${callers.join(', ')} do ${row}, and the rule ${resource}:${action} is for`
  if (scope === 'operator' && callers.length > 0) {
    throw new Error(`${said} operators, whom a table does not name: leave its callers empty.`)
  }
  if (scope === 'app' && callers.length > 0) {
    throw new Error(`${said} app tokens, which a table does not name: leave its callers empty.`)
  }
  if (callers.includes('service') && forServices === false) {
    throw new Error(
      `${said} people: leave out service, or let service tokens have it (forServices).`,
    )
  }
}

/** @throws Error if the table names a role or resource that the app has not */
export function checkNames(table: AccessTable, roles: readonly string[]): void {
  const known = new Set([...roles, 'service'])
  const seen = Object.entries(table.resources ?? {}).flatMap(([name, { visible = [], fields }]) => [
    { rule: `${name}:read`, callers: visible },
    ...Object.values(fields ?? {}).map(({ callers }) => ({ rule: `${name}:read`, callers })),
  ])
  for (const { rule, callers } of [...rowsOf(table), ...seen]) {
    for (const caller of reachesOf(callers).keys()) {
      if (known.has(caller)) continue
      throw new Error(
        `The table lets ${caller} do ${rule}: the app has the roles ${roles.join(', ')}.`,
      )
    }
  }
  const names = app.resources.map(({ name }) => name)
  const strange = Object.keys(table.resources ?? {}).find((name) => !names.includes(name))
  if (strange === undefined) return
  throw new Error(
    `The table has the resource ${strange}: the app has ${names.join(', ') || 'none'}.`,
  )
}
