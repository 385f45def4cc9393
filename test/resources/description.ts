import type { RuleRow } from '#test/access/matrix/contract.ts'
import { insert, type Kinds, numbered } from '#test/access/matrix/kind.ts'
import { idInBody, type RouteRow, type RouteRows } from '#test/access/matrix/route-row.ts'
import { insertion } from '#test/schema/table-rows.ts'
import { createFolder, createTeam } from '#test/support/callers/chain.ts'

/*
 * What the tests know about a declared resource. It is written from the specification: nothing here and in the
 * descriptions reads src.
 */

/** Facts about whose a row is. Folder and team are 0 but for a row in a folder. */
export type Facts = {
  readonly tenantId: string
  readonly userId: number | null
  readonly department: string | null
  readonly folderId: number
  readonly teamId: number
  /** Of the row that it needs (`needs`). */
  readonly neededId?: number
}
type Columns = Readonly<Record<string, unknown>>

export type Description = {
  /** `note`, as rules name it. */
  readonly name: string
  readonly path: string
  readonly table: string
  readonly rules: Readonly<Partial<Record<'read' | 'create' | 'update' | 'delete', RuleRow>>>
  /** Service tokens can be given its permissions. */
  readonly services?: true
  /** Of the specification, which test/access/second-opinion has in another language. */
  readonly specified?: true
  /** A row as the database has it. */
  row(facts: Facts): Columns
  /** A row needs one of another resource, which a body names by this key. */
  readonly needs?: { readonly key: string; readonly of: Description }
  /** A valid body of POST, but for the folder and the row that it needs, and of PATCH. */
  readonly body?: object
  readonly change?: object
  /** What POST responds to the body, but for the id. @param now RFC 3339 */
  answer?(facts: Facts, now: string): object
  /** Types of the events, by what a client does. */
  readonly events?: Readonly<Partial<Record<'POST' | 'PATCH' | 'DELETE', string>>>
  /** Fields that events about an owner's row keep after the owner is deleted. */
  readonly keptInEvents?: readonly string[]
  /** The fields of its forms, but for the folder; without it there are no derived pages. Null: no such form. */
  readonly forms?: { readonly create: object | null; readonly change: object | null }
  /** Set by the command: somebody has to compare it with what was wanted. */
  readonly mark?: 'review me'
}

const nobody: Facts = { tenantId: '', userId: null, department: null, folderId: 0, teamId: 0 }

export function rulesOf(all: readonly Description[]): Record<string, RuleRow> {
  return Object.fromEntries(
    all.flatMap(({ name, rules }) =>
      Object.entries(rules).map(([action, row]) => [`${name}:${action}`, row]),
    ),
  )
}

export function servicePermissionsOf(all: readonly Description[]): string[] {
  return Object.keys(rulesOf(all.filter(({ services }) => services)))
}

/** The permissions of limited tokens beside those of roles. */
export function tokenPermissionsOf(all: readonly Description[], ofRoles: readonly string[]) {
  const tokens = Object.values(rulesOf(all)).flatMap(({ token }) => token ?? [])
  return [...new Set(tokens)].filter((one) => !ofRoles.includes(one))
}

export function kindsOf(all: readonly Description[]): Kinds {
  return Object.fromEntries(
    all.map(({ name, table, row, rules }) => [
      name,
      {
        ...numbered,
        ...('department' in row(nobody) && { departments: true }),
        create: async ({ world, tenantId, owner: { userId, memberOf, department } }) => {
          const { database } = world.test
          const isMember = memberOf.includes(tenantId)
          const reach = rules.read?.reach
          const place = { folderId: 0, teamId: 0 }
          if (reach === 'chain') {
            place.teamId = await createTeam(database, tenantId, isMember ? [userId] : [])
            place.folderId = await createFolder(database, tenantId, place.teamId)
          }
          // Only members write in a tenant; an order stays with its owner wherever it was placed.
          const author = isMember || reach === 'owner' ? userId : null
          const facts = { tenantId, userId: author, department, ...place }
          const [text, values] = insertion(table, row(facts))
          return insert(world, `${text} RETURNING id`, values)
        },
      },
    ]),
  )
}

export function routesOf(all: readonly Description[]): RouteRows {
  return Object.fromEntries(all.flatMap((one) => Object.entries(routesOfOne(one))))
}

function routesOfOne(one: Description): Record<string, RouteRow> {
  const { name, path, rules, body = {}, change = {}, forms } = one
  const who = (action: keyof Description['rules']) => `${name}:${action}` as const
  const isChain = rules.read?.reach === 'chain'
  const inTenant = rules.read?.reach === 'owner' ? { needsTenant: true as const } : {}
  const { needs } = one
  const inFolder = isChain && { object: 'folder' }
  // Keys of the database hold what a body names, with both locks open too.
  const named = needs !== undefined && {
    ...{ object: needs.of.name, outOfReach: 400, heldByKeys: true as const },
  }
  const routes: [RouteRow | false, string][] = [
    [{ who: who('read'), answer: 200, lists: name }, `GET ${path}`],
    [{ who: who('read'), answer: 200, object: name }, `GET ${path}/:id`],
    [
      needs !== undefined && { who: who('read'), answer: 200, object: needs.of.name },
      `GET ${needs?.of.path}/:id${path}`,
    ],
    [
      rules.create !== undefined && {
        ...{ who: who('create'), answer: 201, ...inTenant, ...inFolder, ...named },
        body: ({ id }) => ({
          ...body,
          ...(isChain && { folderId: idInBody(id) }),
          ...(needs !== undefined && { [needs.key]: idInBody(id) }),
        }),
      },
      `POST ${path}`,
    ],
    [
      rules.update !== undefined && {
        ...{ who: who('update'), answer: 200, object: name, body: () => change },
      },
      `PATCH ${path}/:id`,
    ],
    [
      rules.delete !== undefined && { who: who('delete'), answer: 204, object: name },
      `DELETE ${path}/:id`,
    ],
    [forms !== undefined && { who: who('read'), answer: 200 }, `GET /app${path}`],
    [forms !== undefined && { who: who('read'), answer: 200, object: name }, `GET /app${path}/:id`],
    [
      forms?.create != null && {
        ...{ who: who('create'), answer: 303, ...inTenant, ...inFolder, ...named },
        body: ({ id = '' }) => ({
          ...{ ...forms.create, ...(isChain && { folderId: id }) },
          ...(needs !== undefined && { [needs.key]: id }),
          submission: crypto.randomUUID(),
        }),
      },
      `POST /app${path}`,
    ],
    [
      forms?.change != null && {
        ...{ who: who('update'), answer: 303, object: name },
        body: () => ({ ...forms.change }),
      },
      `POST /app${path}/:id`,
    ],
    [
      forms !== undefined &&
        rules.delete !== undefined && {
          ...{ who: who('delete'), answer: 303, object: name },
          body: () => ({ confirm: 'yes' }),
        },
      `POST /app${path}/:id/delete`,
    ],
  ]
  return Object.fromEntries(routes.flatMap(([row, route]) => (row === false ? [] : [[route, row]])))
}

type Planted = Pick<Facts, 'tenantId' | 'folderId' | 'teamId'> & { readonly userId: number }

/** A row about a person in each table, for the walk after an erasure. */
export function plantedOf(
  all: readonly Description[],
): Record<string, (about: Planted) => Record<string, unknown>> {
  return Object.fromEntries(
    all.map(({ table, row }) => [
      table,
      ({ tenantId, userId, folderId, teamId }: Planted) =>
        row({ tenantId, userId, department: null, folderId, teamId }),
    ]),
  )
}
