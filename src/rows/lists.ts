import { firstInReach } from '#src/access/relations.ts'
import type { Statement } from '#src/db/connections/one-trip.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { type TimeRange, timeConditions, withinBytes } from '#src/db/keyset.ts'
import { orOnCluster } from '#src/db/sql.ts'
import {
  type Count,
  idForm,
  isReadInReverse,
  maxCounted,
  type Page,
  type PageResult,
  pageOf,
} from '#src/http/lists/pagination.ts'
import type { Resource } from '#src/resources/kit/define.ts'
import type { Asking, Field } from '#src/resources/kit/fields/field.ts'
import { castTo, column, largeOf, parameterOf } from './columns.ts'
import type { NamedItem, Names, Reading } from './named.ts'
import { matchOf, maxSearchedRows, searchOf } from './search.ts'
import { chainOf, type Declared, type RowScope, type Table, type Values, within } from './table.ts'

export type ListFilter = TimeRange & Readonly<Record<string, string | undefined>>

/** Name and cursor of a list. */
type Listing = { readonly name: string; readonly forms: readonly RegExp[] }

/** How rows are read. */
export type Further = {
  /** The field that a list is sorted by; `createdAt` without it. */
  readonly sort?: string | undefined
  /** The rows that it refers to, by the names of their links (`Link.name`). The caller may read them. */
  readonly expand?: readonly string[]
  /** Counts the rows of all pages too. */
  readonly count?: boolean
  /** The rows that a page of a search looks at, instead of `maxSearchedRows`. */
  readonly searched?: number
}

export type Lists<Item> = {
  readonly listing: Listing
  /** The same for another order: `dueOn`, or `-dueOn` from its end. */
  listingBy(sort: string | undefined): Listing
  /** The rows in reach of the caller, newest first. */
  list(
    tx: Tx,
    scope: RowScope,
    page: Page,
    filter?: ListFilter,
    further?: Further,
  ): Promise<PageResult<Item>>
  /** The same with the names of the members and the headings of the rows that they refer to. */
  listWithNames(
    tx: Tx,
    caller: Asking,
    page: Page,
    filter?: ListFilter,
    further?: Omit<Further, 'expand'>,
  ): Promise<PageResult<NamedItem<Item>>>
}

/** The statements of the lists of a resource. */
export function listsOf<Item>(
  table: Table<Item>,
  names: Names<Item>,
  expanded: (wanted: readonly string[]) => Reading<Item>,
): Lists<Item> {
  const { resource, shown } = table
  const ownBytes = Prisma.join([Prisma.sql`0`, ...shown.flatMap(largeOf)], ' + ')

  async function read<T>(
    tx: Tx,
    asking: RowScope,
    page: Page,
    filter: ListFilter,
    { selected, bytes, read }: Reading<T>,
    { sort, count = false, searched = maxSearchedRows }: Further,
  ): Promise<PageResult<T>> {
    const sortKey = sortKeyOf(resource, sort)
    const wanted = { filter, selected, sortKey, searched }
    const statement = inBothForms(filter, (form) =>
      withinBytes(
        inOrderOf(table, asking, page, wanted, form),
        Prisma.join([ownBytes, ...bytes], ''),
      ),
    )
    const [rows, counted] = await Promise.all([
      tx.sql<Values>(statement),
      count ? countOf(tx, table, asking, filter) : undefined,
    ])
    const positionOf = ({ id, row_position: position }: Values) =>
      sortKey === null ? [String(id)] : [String(position ?? ''), String(id)]
    const shown = (row: Values) => read(row, asking)
    const result = pageOf(rows, page, listingOf(resource, sortKey).name, positionOf, shown)
    return counted === undefined ? result : { ...result, count: counted }
  }

  return {
    listing: listingOf(resource, null),
    listingBy: (order) => listingOf(resource, sortKeyOf(resource, order)),
    list: async (tx, asking, page, filter = {}, further = {}) =>
      read(tx, asking, page, filter, expanded(further.expand ?? []), further),
    async listWithNames(tx, caller, page, filter = {}, further = {}) {
      const known = names.namedTo(caller)
      const named = (row: Values) => names.withNames(row, known, caller)
      const reading = { selected: names.listed, bytes: [], read: named }
      return read(tx, caller, page, filter, reading, further)
    },
  }
}

function listingOf({ plural }: Resource, sortKey: string | null): Listing {
  return sortKey === null
    ? { name: plural, forms: [idForm] }
    : { name: `${plural} by ${sortKey}`, forms: [/^[ -~]{0,64}$/, idForm] }
}

/** The field of an order; null for that by the id. */
function sortKeyOf({ sort }: Resource, order: string | undefined): string | null {
  const key = order?.replace(/^-/, '')
  return sort.find((one) => one === key) ?? null
}

type Wanted = {
  readonly filter: ListFilter
  /** Further columns, each after a comma. */
  readonly selected: Prisma.Sql
  /** The field that the list is sorted by; null for the id. */
  readonly sortKey: string | null
  /** Rows that a search looks at. */
  readonly searched: number
}

/** The rows of a page and one more, which says whether another page follows. */
function inOrderOf<Item>(
  table: Table<Item>,
  asking: RowScope,
  page: Page,
  { filter, selected, sortKey, searched }: Wanted,
  form: Form,
): Prisma.Sql {
  const { resource, name, columns } = table
  const inReverse = isReadInReverse(page)
  const [direction, beyond] = inReverse
    ? [Prisma.sql`ASC`, Prisma.sql`>`]
    : [Prisma.sql`DESC`, Prisma.sql`<`]
  const last = page.after?.at(-1)
  const after =
    last === undefined
      ? []
      : [
          sortKey === null
            ? Prisma.sql`id ${beyond} ${last}::bigint`
            : beyondIn(resource, sortKey, page.after?.[0] ?? '', last, inReverse),
        ]
  const conditions = [Prisma.sql`true`, ...filtersOf(resource, filter), ...after]
  const matching = Prisma.join(conditions, ' AND ')
  const limit = page.limit + 1
  if (resource.scope === 'chain') {
    return Prisma.sql`
            SELECT ${columns}${selected} FROM ${name}
            WHERE ${firstInReach(name, chainOf(asking), { matching, direction, limit })}
            ORDER BY id ${direction}`
  }
  // In the text, and not a parameter: PostgreSQL would plan for more rows, and so again for each page.
  const first = Prisma.raw(String(limit))
  // The name of a column is that of the table: what is selected can be its text.
  const sorted = sortKey === null ? null : Prisma.sql`${name}.${column(sortKey)}`
  const order =
    sorted === null
      ? Prisma.sql`${name}.id ${direction}`
      : Prisma.sql`${sorted} ${direction}, ${name}.id ${direction}`
  const position = sorted === null ? Prisma.empty : Prisma.sql`, ${sorted}::text AS row_position`
  const all = Prisma.sql`FROM ${name} WHERE ${within(resource, asking)} AND ${matching}`
  if (filter.q === undefined) {
    return Prisma.sql`
            SELECT ${columns}${selected}${position} ${all} ORDER BY ${order} LIMIT ${first}`
  }
  const { sought, isMatch, rows } = searchedOf(table, asking, filter.q, {
    ...{ all, order, form, searched },
  })
  return Prisma.sql`
            ${sought}
            SELECT ${columns}${selected}${position}, ${isMatch} AS is_match, "isEnd" AS is_end
            FROM (${rows}) AS ${name}
            WHERE ${isMatch} OR "isEnd" ORDER BY ${order} LIMIT ${limit}`
}

/** A search reads the table of words, which a cluster does not have. */
type Form = 'onePostgres' | 'cluster'

function inBothForms(filter: ListFilter, compose: (form: Form) => Prisma.Sql): Statement {
  const statement = compose('onePostgres')
  return filter.q === undefined ? statement : orOnCluster(statement, () => compose('cluster'))
}

type Looked = {
  /** FROM and WHERE of the list. */
  readonly all: Prisma.Sql
  readonly order: Prisma.Sql
  readonly form: Form
  /** Rows that it looks at in the order of the list. */
  readonly searched: number
}

/**
 * The rows that a search looks at: those with its rarest word, or a bounded number in the order of the list, of which
 * `"isEnd"` marks the last. Names with capitals are those of no column.
 */
function searchedOf<Item>(
  { resource, name }: Table<Item>,
  asking: RowScope,
  query: string,
  { all, order, form, searched }: Looked,
): { sought: Prisma.Sql; isMatch: Prisma.Sql; rows: Prisma.Sql } {
  const inOrder = (isWanted: Prisma.Sql) => Prisma.sql`
              SELECT ${name}.*, row_number() OVER (ORDER BY ${order}) = ${searched} AS "isEnd"
              ${all}${isWanted} ORDER BY ${order} LIMIT ${searched}`
  if (form === 'cluster') {
    const isMatch = matchOf(resource, name, query)
    return { sought: Prisma.empty, isMatch, rows: inOrder(Prisma.empty) }
  }
  const { sought, isRare, isFrequent, isMatch } = searchOf(resource, asking, name, query)
  const rows = Prisma.sql`
              SELECT ${name}.*, false AS "isEnd" ${all} AND ${isRare}
              UNION ALL (${inOrder(Prisma.sql` AND ${isFrequent}`)})`
  return { sought: Prisma.sql`WITH ${sought}`, isMatch, rows }
}

/** A search counts among the rows that a page of it looks at, of frequent words the newest. */
async function countOf<Item>(
  tx: Tx,
  table: Table<Item>,
  asking: RowScope,
  filter: ListFilter,
): Promise<Count> {
  const { resource, name } = table
  const conditions = [within(resource, asking), ...filtersOf(resource, filter)]
  const all = Prisma.sql`FROM ${name} WHERE ${Prisma.join(conditions, ' AND ')}`
  const statement = inBothForms(filter, (form) => {
    if (filter.q === undefined) {
      return countedFrom(Prisma.sql`SELECT true AS is_match ${all} LIMIT ${maxCounted + 1}`)
    }
    const order = Prisma.sql`${name}.id DESC`
    const { sought, isMatch, rows } = searchedOf(table, asking, filter.q, {
      ...{ all, order, form, searched: maxSearchedRows },
    })
    return countedFrom(
      Prisma.sql`${sought} SELECT ${isMatch} AS is_match FROM (${rows}) AS ${name}`,
    )
  })
  const [counted] = await tx.sql<{ rows: number; looked: number }>(statement)
  const { rows = 0, looked: seen = 0 } = counted ?? {}
  const more = rows > maxCounted || seen >= maxSearchedRows
  return { rows: Math.min(rows, maxCounted), more }
}

function countedFrom(looked: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
            SELECT (count(*) FILTER (WHERE is_match))::int AS rows, count(*)::int AS looked
            FROM (${looked}) AS seen`
}

/** Each is `status`, `status[in]`, `dueOn[gte]` or `dueOn[lt]`; `from` and `to` are about the creation, `q` is the search. */
function filtersOf(resource: Declared, { from, to, q: _, ...given }: ListFilter): Prisma.Sql[] {
  const filters = Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [filterOf(resource, name, value)],
  )
  return [...filters, ...timeConditions(Prisma.sql`created_at`, { from, to })]
}

function filterOf(resource: Declared, name: string, value: string): Prisma.Sql {
  const [, key = name, comparison] = /^(\w+)\[(\w+)\]$/.exec(name) ?? []
  const one = fieldOf(resource, key)
  if (comparison === 'in') {
    const type = Prisma.raw(one.column)
    return Prisma.sql`${column(key)} = ANY(string_to_array(${value}, ',')::${type}[])`
  }
  const operator = { gte: Prisma.sql`>=`, lt: Prisma.sql`<` }[comparison ?? ''] ?? Prisma.sql`=`
  return Prisma.sql`${column(key)} ${operator} ${parameterOf(one, value)}`
}

/** The rows after one with this value and id. NULL is greater than any value, as in an index. */
function beyondIn(
  resource: Declared,
  key: string,
  value: string,
  id: string,
  inReverse: boolean,
): Prisma.Sql {
  const one = fieldOf(resource, key)
  const [sorted, row] = [column(key), Prisma.sql`(${column(key)}, id)`]
  const isNull = Prisma.sql`${sorted} IS NULL`
  if (value === '') {
    return inReverse
      ? Prisma.sql`(${isNull} AND id > ${id}::bigint)`
      : Prisma.sql`(${sorted} IS NOT NULL OR id < ${id}::bigint)`
  }
  const last = Prisma.sql`(${castTo(one, value)}, ${id}::bigint)`
  if (!inReverse) return Prisma.sql`${row} < ${last}`
  return one.isNullable ? Prisma.sql`(${row} > ${last} OR ${isNull})` : Prisma.sql`${row} > ${last}`
}

function fieldOf({ name, fields }: Declared, key: string): Field {
  const one = fields[key]
  if (one === undefined) throw new Error(`The resource ${name} has no field ${key}.`)
  return one
}
