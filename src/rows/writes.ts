import type { RowAccess } from '#src/db/connections/one-trip.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { composeOnce, ofRow } from '#src/db/sql.ts'
import { changedKeysOf, homeFunctionOf, insertedKeysOf } from '#src/resources/kit/derived.ts'
import type { Asking } from '#src/resources/kit/fields/field.ts'
import { castTo, column, parameterOf, sentAs } from './columns.ts'
import { entityTagOf } from './row-json.ts'
import { type RowScope, type Table, type Values, within } from './table.ts'

/** ETags of the response with a row; null for any. */
export type Tags = readonly string[] | null

/** The statements of `insert`, `update` and `remove`. Each returns the columns of the row. */
type Statements = {
  insertion(caller: Asking, values: Values, now: Date): Prisma.Sql
  /** @param tags if given, only a row with one of these ETags is changed */
  changing(scope: RowScope, id: number, values: Values, now: Date, tags?: Tags): Prisma.Sql
  /** @param tags as for `changing` */
  removal(scope: RowScope, id: number, tags?: Tags): Prisma.Sql
}

export type Writes<Item> = Statements & {
  /** @returns null if the row belongs in a folder out of reach */
  insert(tx: Tx, caller: Asking, values: Values, now: Date): Promise<Item | null>
  /** Changes the columns that are given; null if there is no such row in reach. */
  update(tx: Tx, scope: RowScope, id: number, values: Values, now: Date): Promise<Item | null>
  /** @returns the last state of the row; null if there is none in reach */
  remove(tx: Tx, scope: RowScope, id: number): Promise<Item | null>
  /**
   * Enters the tenant of an owner's row, whose events belong there whichever tenant is active, and stays
   * in it. Null if the owner is no member of that tenant any more.
   */
  enterHome(tx: Tx, id: number): Promise<string | null>
}

/** The statements that write a row. */
export function writesOf<Item>(table: Table<Item>): Writes<Item> {
  const { resource, columns, firstItem } = table
  const statements = { insertion: insertionOf(table), ...changesOf(table) }
  const { insertion, changing, removal } = statements
  const added: RowAccess = { table: resource.plural, selected: columns.text, does: 'insert' }
  return {
    ...statements,
    insert: async (tx, ...given) => firstItem(await tx.sql(ofRow(insertion(...given), added))),
    update: async (tx, ...given) => firstItem(await tx.sql(changing(...given))),
    remove: async (tx, ...given) => firstItem(await tx.sql(removal(...given))),
    async enterHome(tx, id) {
      const enter = Prisma.raw(homeFunctionOf(resource))
      const [entered] = await tx.sql<{
        tenantId: string | null
      }>`SELECT ${enter}(${id}) AS "tenantId"`
      return entered?.tenantId ?? null
    },
  }
}

function insertionOf<Item>(table: Table<Item>): Statements['insertion'] {
  const { scope, fields } = table.resource
  const keys = insertedKeysOf(table.resource)
  const inserted = Object.entries(fields).filter(([key]) => keys.includes(key))
  const written = new Set([...keys, ...(scope === 'chain' ? ['folderId'] : [])])
  const ownKeys = scope === 'owner' ? ['tenantId', 'userId'] : ['tenantId']
  const insertedColumns = inserted.map(([key]) => column(key))
  const casts = (values: readonly unknown[]) =>
    inserted.map(([, one], index) => castTo(one, values[index]))

  const insertRow = composeOnce((...values: readonly unknown[]) => {
    const [tenantId, userId] = values
    const own = [Prisma.sql`${tenantId}::uuid`, Prisma.sql`${userId}`].slice(0, ownKeys.length)
    return Prisma.sql`
      INSERT INTO ${table.name} (${Prisma.join([...ownKeys.map(column), ...insertedColumns])})
      VALUES (${Prisma.join([...own, ...casts(values.slice(ownKeys.length))])}) RETURNING ${table.columns}`
  })

  // The lock on the folder keeps its team until the row is inserted.
  const insertInFolder = composeOnce((...values: readonly unknown[]) => {
    const [tenantId, folderId, sameTenantId, userId] = values.slice(inserted.length)
    return Prisma.sql`
      INSERT INTO ${table.name} (${Prisma.join([Prisma.sql`tenant_id, folder_id, team_id`, ...insertedColumns])})
      SELECT ${Prisma.join([Prisma.sql`f.tenant_id, f.id, f.team_id`, ...casts(values)])} FROM folders f
      WHERE f.tenant_id = ${tenantId}::uuid AND f.id = ${folderId} AND f.team_id IN (
        SELECT m.team_id FROM team_members m
        WHERE m.tenant_id = ${sameTenantId}::uuid AND m.user_id = ${userId})
      FOR KEY SHARE OF f RETURNING ${table.columns}`
  })

  return (caller, values, now) => {
    refuseUnwritten(`A new ${table.resource.name}`, written, values)
    const { userId, tenantId } = caller
    const sent = inserted.map(([key, one]) =>
      sentAs(one, values[key] ?? one.initial?.(caller, now) ?? null),
    )
    if (scope !== 'chain') return insertRow(...[tenantId, userId].slice(0, ownKeys.length), ...sent)
    return insertInFolder(...sent, tenantId, values.folderId, tenantId, userId)
  }
}

/** @throws Error for a value that the statement would silently leave out, a mistake of an override or a route */
function refuseUnwritten(what: string, written: ReadonlySet<string>, values: Values): void {
  const lost = Object.keys(values).find((key) => values[key] !== undefined && !written.has(key))
  if (lost === undefined) return
  throw new Error(
    `${what} cannot write ${lost}, which no such action has in accepts or sets. Add it to sets of the action that writes it.`,
  )
}

function changesOf<Item>(table: Table<Item>): Omit<Statements, 'insertion'> {
  const { name, columns, resource, shown } = table
  const { fields } = resource
  const keys = changedKeysOf(resource)
  const changed = Object.entries(fields).filter(([key, one]) => keys.has(key) && !one.isTouched)
  const touched = Object.entries(fields).filter(([, { isTouched }]) => isTouched)
  const written = new Set(changed.map(([key]) => key))
  const tag = entityTagOf(shown)
  const tagged = (tags: Tags) =>
    tags === null ? Prisma.empty : Prisma.sql` AND ${tag} = ANY(${[...tags]}::text[])`
  return {
    // One text for all changes, so that a connection keeps one plan for them.
    changing(asking, id, values, now, tags = null) {
      refuseUnwritten(`A change of a ${resource.name}`, written, values)
      const set = changed.map(([key, one]) => {
        const value = parameterOf(one, values[key] ?? null)
        const isGiven = values[key] !== undefined
        return Prisma.sql`${column(key)} = CASE WHEN ${isGiven}::boolean THEN ${value} ELSE ${column(key)} END`
      })
      const times = touched.map(
        ([key, one]) => Prisma.sql`${column(key)} = ${parameterOf(one, now)}`,
      )
      return Prisma.sql`
      UPDATE ${name} SET ${Prisma.join([...set, ...times])}
      WHERE ${within(resource, asking)} AND id = ${id}${tagged(tags)} RETURNING ${columns}`
    },
    removal: (asking, id, tags = null) => Prisma.sql`
      DELETE FROM ${name} WHERE ${within(resource, asking)} AND id = ${id}${tagged(tags)} RETURNING ${columns}`,
  }
}
