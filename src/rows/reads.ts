import type { RowAccess } from '#src/db/connections/one-trip.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { composeOnce, type OneStatement, ofRow, oneStatement } from '#src/db/sql.ts'
import type { Asking } from '#src/resources/kit/fields/field.ts'
import { column } from './columns.ts'
import { headingOf, mayRead, type NamedItem, type Names, type Reading } from './named.ts'
import { seenBy } from './seen.ts'
import { inScopeOf, inTeamOf, type RowScope, type Table, type Values, within } from './table.ts'

/** A row by its heading. */
export type Choice = { readonly id: number; readonly heading: string }

export type Reads<Item> = {
  /**
   * A row in reach of the caller, or null. Entry and statement are one packet, so owner and tenant come
   * from the scope.
   * @param expand the rows that it refers to, by the names of their links (`Link.name`). The caller may read them.
   */
  find(
    id: number,
    further?: { readonly expand?: readonly string[] },
  ): OneStatement<unknown, Item | null>
  /**
   * The same with the name or address of each person it names, null for a person who has left, and the headings of the
   * rows it refers to, which the caller may read.
   */
  findWithNames(id: number): OneStatement<unknown, NamedItem<Item> | null>
  /**
   * A row in reach of the caller, locked until the transaction ends; null if there is none. With all its fields, also
   * those that the caller lacks the permission for: conditions judge it.
   */
  lock(tx: Pick<Tx, 'sql'>, scope: RowScope, id: number): Promise<Item | null>
  /**
   * The newest rows in reach by their headings, for a choice; empty if the caller may not read them.
   * @param chosen ids of rows that are among them if they are in reach, however old they are
   */
  choices(tx: Tx, caller: Asking, limit: number, chosen?: readonly number[]): Promise<Choice[]>
}

/** The newest members of the tenant by their names or addresses, for a choice. @param chosen as for `choices` */
export async function memberChoices(
  tx: Tx,
  { tenantId }: Pick<Asking, 'tenantId'>,
  limit: number,
  chosen: readonly number[] = [],
): Promise<Choice[]> {
  const members = Prisma.sql`
    SELECT u.id, coalesce(u.name, u.email, u.id::text) AS heading
    FROM tenant_members m JOIN users u ON u.id = m.user_id WHERE m.tenant_id = ${tenantId}::uuid`
  const newest = Prisma.sql`${members} ORDER BY m.created_at DESC, u.id DESC LIMIT ${limit}`
  return choicesWith(
    tx,
    newest,
    chosen,
    (ids) => Prisma.sql`${members} AND u.id = ANY(${ids}::bigint[])`,
  )
}

/** The rows of a choice, with the chosen ones. */
async function choicesWith(
  tx: Tx,
  newest: Prisma.Sql,
  chosen: readonly number[],
  those: (ids: readonly number[]) => Prisma.Sql,
): Promise<Choice[]> {
  const read = async (statement: Prisma.Sql) => {
    const rows = await tx.sql<{ id: unknown; heading: string }>(statement)
    return rows.map(({ id, heading }) => ({ id: Number(id), heading }))
  }
  const rows = await read(newest)
  const others = chosen.filter((one) => !rows.some(({ id }) => id === one))
  return others.length === 0 ? rows : [...rows, ...(await read(those(others)))]
}

/** The statements that read one row, or rows for a choice. */
export function readsOf<Item>(
  table: Table<Item>,
  names: Names<Item>,
  expanded: (wanted: readonly string[]) => Reading<Item>,
): Reads<Item> {
  const { resource, columns, firstItem } = table
  const access = { table: resource.plural, selected: columns.text }
  const locked: RowAccess = { ...access, does: 'lock' }
  return {
    ...findsOf(table, names, expanded),
    async lock(tx, asking, id) {
      const statement = Prisma.sql`
      SELECT ${columns} FROM ${table.name} WHERE ${within(resource, asking)} AND id = ${id} FOR UPDATE`
      return firstItem(await tx.sql(ofRow(statement, locked)))
    },
    async choices(tx, caller, limit, chosen = []) {
      if (!mayRead(caller, resource)) return []
      const heading = headingOf(resource)
      const rows = Prisma.sql`
      SELECT id, ${heading === null ? Prisma.sql`id::text` : column(heading)} AS heading
      FROM ${table.name} WHERE ${within(resource, caller)}`
      const newest = Prisma.sql`${rows} ORDER BY id DESC LIMIT ${limit}`
      return choicesWith(
        tx,
        newest,
        chosen,
        (ids) => Prisma.sql`${rows} AND id = ANY(${ids}::bigint[])`,
      )
    },
  }
}

function findsOf<Item>(
  { resource, name, columns, firstItem }: Table<Item>,
  names: Names<Item>,
  expanded: (wanted: readonly string[]) => Reading<Item>,
): Pick<Reads<Item>, 'find' | 'findWithNames'> {
  const inTeam = inTeamOf(resource)
  const fromRow = Prisma.sql`FROM ${name} WHERE ${inScopeOf(resource)} AND id = `
  const findRow = composeOnce(
    (id: number) => Prisma.sql`SELECT ${columns} ${fromRow}${id}${inTeam}`,
  )
  const selectNamed = Prisma.sql`SELECT ${columns}${names.selected} ${fromRow}`
  const accessTo = (selected: Prisma.Sql): RowAccess => ({
    ...{ table: resource.plural, does: 'find' },
    selected: selected.text,
  })
  const found = accessTo(columns)
  const foundNamed = accessTo(Prisma.sql`${columns}${names.selected}`)
  const seenFirst = (rows: object[], caller: unknown) =>
    seenBy(resource, Object(caller), firstItem(rows))
  return {
    find(id, { expand = [] } = {}) {
      if (expand.length === 0) return oneStatement(ofRow(findRow(id), found), seenFirst)
      const { selected, read } = expanded(expand)
      const statement = Prisma.sql`SELECT ${columns}${selected} ${fromRow}${id}${inTeam}`
      const access = accessTo(Prisma.sql`${columns}${selected}`)
      return oneStatement(ofRow(statement, access), ([row]: Values[], caller: unknown) =>
        row === undefined ? null : read(row, Object(caller)),
      )
    },
    findWithNames(id) {
      const statement = ofRow(Prisma.sql`${selectNamed}${id}${inTeam}`, foundNamed)
      return oneStatement(statement, ([row]: Values[], caller: unknown) =>
        row === undefined
          ? null
          : names.withNames(row, names.namedTo(Object(caller)), Object(caller)),
      )
    },
  }
}
