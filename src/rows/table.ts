import { type ChainScope, inReach } from '#src/access/relations.ts'
import { managingRole } from '#src/access/roles.ts'
import { scopeKind, scopeTenantId, scopeUserId } from '#src/access/scope.ts'
import { Prisma } from '#src/db/generated/client.ts'
import type { Resource } from '#src/resources/kit/define.ts'
import { columns as columnTypes } from '#src/resources/kit/fields/columns.ts'
import type { Asking, Field } from '#src/resources/kit/fields/field.ts'
import { columnOf } from '#src/resources/kit/names.ts'
import { askingOf, personKinds } from '#src/resources/kit/visible.ts'
import { selected } from './columns.ts'

/* What every statement of a declared resource has: its columns, and the owner or tenant in its WHERE. */

/** A declared resource, without the types of its declaration. */
export type Declared = Resource
export type Values = Readonly<Record<string, unknown>>

/** The first lock: the owner or the tenant, or both for a chain. */
export type RowScope = Pick<Asking, 'userId' | 'tenantId'> & {
  /** The tenant of an owner's row, which the transaction has entered. */
  readonly homeId?: string | null
}

export type Table<Item> = {
  readonly resource: Declared
  readonly name: Prisma.Sql
  /** The fields in responses. */
  readonly shown: readonly (readonly [string, Field])[]
  /** `shown` without the fields that need a permission: in events, and where another row is shown with its own. */
  readonly told: readonly (readonly [string, Field])[]
  /** The columns of a row in a SELECT or RETURNING, which `toItem` reads. */
  readonly columns: Prisma.Sql
  toItem(row: object): Item
  /** The first of the rows that a statement returned. */
  firstItem(rows: object[]): Item | null
}

export function tableOf<Item>(resource: Declared): Table<Item> {
  const shown = Object.entries(resource.fields).filter(([, { isHidden }]) => !isHidden)
  const readers = shown.map(([key, one]) => ({ key, read: columnTypes[one.column].read, one }))

  function toItem(row: object): Item {
    const values = row as Values
    const item: Record<string, unknown> = {}
    for (const { key, read, one } of readers) {
      const value = values[key]
      if (value !== null) item[key] = read(value)
      else if (!one.isOmitted) item[key] = null
    }
    return item as Item
  }

  return {
    resource,
    name: Prisma.raw(resource.plural),
    shown,
    told: toldOf(shown),
    columns: Prisma.join(shown.map(selected)),
    toItem,
    firstItem: ([row]) => (row === undefined ? null : toItem(row)),
  }
}

/** The fields that need no permission. */
export function toldOf(shown: Table<unknown>['shown']): Table<unknown>['shown'] {
  return shown.filter(([, { permission }]) => permission === undefined)
}

/** The first lock in a statement of a transaction that has entered. */
export function within(
  resource: Declared,
  { userId, tenantId, homeId = null }: RowScope,
): Prisma.Sql {
  const { scope } = resource
  if (scope === 'owner') {
    const atHome = homeId === null ? Prisma.empty : Prisma.sql` AND tenant_id = ${homeId}::uuid`
    return Prisma.sql`user_id = ${userId}${atHome}`
  }
  if (scope === 'tenant') return Prisma.sql`tenant_id = ${tenantId}::uuid${seenOf(resource)}`
  return inReach(chainOf({ userId, tenantId }))
}

/** The first lock of a statement that leaves before the program knows the caller. */
export function inScopeOf(resource: Declared): Prisma.Sql {
  return resource.scope === 'owner'
    ? Prisma.sql`user_id = ${scopeUserId}`
    : Prisma.sql`tenant_id = ${scopeTenantId}${seenOf(resource)}`
}

/** The rows that a person sees, if the resource says so. Jobs work on all of them. */
function seenOf({ visible }: Declared): Prisma.Sql {
  if (visible === undefined) return Prisma.empty
  const asking = askingOf({
    ...{ tenant: scopeTenantId.sql, user: scopeUserId.sql, kind: scopeKind.sql },
    manages: `EXISTS (SELECT FROM memberships m WHERE m.tenant_id = ${scopeTenantId.sql} AND m.user_id = ${scopeUserId.sql} AND m.role = '${managingRole}')`,
  })
  const seen = Prisma.raw(visible.sql(asking, columnOf))
  return Prisma.sql` AND (${scopeKind} NOT IN ${Prisma.raw(personKinds)} OR ${seen})`
}

/** The rest of the first lock for a chain, after the condition on the id. */
export function inTeamOf({ scope }: Declared): Prisma.Sql {
  return scope === 'chain'
    ? Prisma.sql` AND team_id IN (
        SELECT m.team_id FROM team_members m
        WHERE m.tenant_id = ${scopeTenantId} AND m.user_id = ${scopeUserId})`
    : Prisma.empty
}

/** @throws Error without a member */
export function chainOf({ userId, tenantId }: RowScope): ChainScope {
  if (userId === null || tenantId === null)
    throw new Error('Only a member reaches rows of a chain.')
  return { userId, tenantId }
}
