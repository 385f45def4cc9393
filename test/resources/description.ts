import { numbered } from '#dev/testing/access/kind.ts'
import { type RoutedResource, routesOfResource } from '#dev/testing/access/resource-routes.ts'
import type { RouteRows } from '#dev/testing/access/route-row.ts'
import type { RuleRow } from '#dev/testing/access/rules.ts'
import { insert, type Kinds } from '#test/access/matrix/kind.ts'
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

export type Description = RoutedResource & {
  readonly table: string
  /** Service tokens can be given its permissions. */
  readonly services?: true
  /** Of the specification, which test/access/second-opinion has in another language. */
  readonly specified?: true
  /** A row as the database has it. */
  row(facts: Facts): Columns
  readonly needs?: { readonly key: string; readonly of: Description }
  /** What POST responds to the body, but for the id. @param now RFC 3339 */
  answer?(facts: Facts, now: string): object
  /** Types of the events, by what a client does. */
  readonly events?: Readonly<Partial<Record<'POST' | 'PATCH' | 'DELETE', string>>>
  /** Computed fields of the row after the change. */
  readonly computed?: object
  /** Fields that need a permission, which no event has. */
  readonly guarded?: readonly string[]
  /** Fields that events about an owner's row keep after the owner is deleted. */
  readonly keptInEvents?: readonly string[]
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
  return Object.fromEntries(all.flatMap((one) => Object.entries(routesOfResource(one))))
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
