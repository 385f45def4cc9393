import type { Static } from 'typebox'
import { decideWithoutObject, type Subject } from '#src/access/policy.ts'
import { type ChainScope, firstInReach, inReach } from '#src/access/relations.ts'
import { scopeTenantId, scopeUserId } from '#src/access/scope.ts'
import type { RowAccess } from '#src/db/connections/one-trip.ts'
import type { Tx } from '#src/db/database.ts'
import { Prisma } from '#src/db/generated/client.ts'
import { type TimeRange, timeConditions, withinBytes } from '#src/db/keyset.ts'
import { composeOnce, type OneStatement, ofRow, oneStatement } from '#src/db/sql.ts'
import {
  idForm,
  isReadInReverse,
  type Page,
  type PageResult,
  pageOf,
} from '#src/http/lists/pagination.ts'
import { columnOf, type Resource } from '#src/resources/kit/define.ts'
import { homeFunctionOf, insertedKeysOf, isWritten } from '#src/resources/kit/derived.ts'
import { columns as columnTypes } from '#src/resources/kit/fields/columns.ts'
import type { Asking, Field, Fields } from '#src/resources/kit/fields/field.ts'
import { type Link, linksOf } from '#src/resources/kit/links.ts'
import { resources } from '#src/resources/running-app.ts'
import { entityTagOf, eventJsonOf, selectedOf } from './row-json.ts'

/** A declared resource, without the types of its declaration. */
export type Declared = Resource
export type Values = Readonly<Record<string, unknown>>
export type ListFilter = TimeRange & Readonly<Record<string, string | undefined>>

/** ETags of the response with a row; null for any. */
export type Tags = readonly string[] | null

/** The first lock: the owner or the tenant, or both for a chain. */
export type RowScope = Pick<Asking, 'userId' | 'tenantId'> & {
  /** The tenant of an owner's row, which the transaction has entered. */
  readonly homeId?: string | null
}

/** The statements of a resource. Each has the owner or tenant in its WHERE; row-level security is the second lock. */
export type Rows<Item> = {
  /** The columns of a row in a SELECT or RETURNING, which `toItem` reads. */
  readonly columns: Prisma.Sql
  toItem(row: object): Item
  /** SQL for what `JSON.stringify(toItem(row))` means, from a row `changed` that has the columns. */
  readonly json: Prisma.Sql
  /** Name and cursor of its list. */
  readonly listing: Listing
  /** The same for another order: `dueOn`, or `-dueOn` from its end. */
  listingBy(sort: string | undefined): Listing
  /**
   * A row in reach of the caller, or null. Entry and statement are one packet, so owner and tenant come
   * from the scope.
   */
  find(id: number, further?: Further): OneStatement<unknown, Item | null>
  /**
   * The same with the name or address of each person it names, null for a person who has left, and the headings of the
   * rows it refers to, which the caller may read.
   */
  findWithNames(id: number): OneStatement<unknown, NamedItem<Item> | null>
  /** The rows in reach of the caller, newest first. */
  list(
    tx: Tx,
    scope: RowScope,
    page: Page,
    filter?: ListFilter,
    further?: Further,
  ): Promise<PageResult<Item>>
  /** The same with the headings of the rows that they refer to. */
  listWithNames(
    tx: Tx,
    caller: Asking,
    page: Page,
    filter?: ListFilter,
  ): Promise<PageResult<NamedItem<Item>>>
  /** The newest rows in reach by their headings, for a choice; empty if the caller may not read them. */
  choices(tx: Tx, caller: Asking, limit: number): Promise<Choice[]>
  /** A row in reach of the caller, locked until the transaction ends; null if there is none. */
  lock(tx: Pick<Tx, 'sql'>, scope: RowScope, id: number): Promise<Item | null>
  /** @returns null if the row belongs in a folder out of reach */
  insert(tx: Tx, caller: Asking, values: Values, now: Date): Promise<Item | null>
  /** Changes the columns that are given; null if there is no such row in reach. */
  update(tx: Tx, scope: RowScope, id: number, values: Values, now: Date): Promise<Item | null>
  /** @returns the last state of the row; null if there is none in reach */
  remove(tx: Tx, scope: RowScope, id: number): Promise<Item | null>
  /**
   * The statements of `insert`, `update` and `remove`. Each returns the columns of the row.
   * @param tags if given, only a row with one of these ETags is changed
   */
  insertion(caller: Asking, values: Values, now: Date): Prisma.Sql
  changing(scope: RowScope, id: number, values: Values, now: Date, tags?: Tags): Prisma.Sql
  removal(scope: RowScope, id: number, tags?: Tags): Prisma.Sql
  /**
   * Enters the tenant of an owner's row, whose events belong there whichever tenant is active, and stays
   * in it. Null if the owner is no member of that tenant any more.
   */
  enterHome(tx: Tx, id: number): Promise<string | null>
}

type Listing = { readonly name: string; readonly forms: readonly RegExp[] }

/** How rows are read. */
export type Further = {
  /** The field that a list is sorted by; `createdAt` without it. */
  readonly sort?: string | undefined
  /** The rows that it refers to, by the names of their links (`Link.name`). The caller may read them. */
  readonly expand?: readonly string[]
}

/** A row by its heading. */
export type Choice = { readonly id: number; readonly heading: string }

export type NamedItem<Item> = {
  readonly item: Item
  /** By field. */
  readonly names: Readonly<Record<string, string | null>>
}

/** Composes the statements of a resource, once. */
export function rowsOf<One extends Declared>(
  resource: One,
  links: readonly Link[] = linksOf(resources),
): Rows<Static<One['shape']>> {
  type Item = Static<One['shape']>
  const { plural, scope, fields, actions } = resource
  const table = Prisma.raw(plural)
  const listing = { name: plural, forms: [idForm] }
  function listingBy(order: string | undefined): Listing {
    const key = sortKeyOf(resource, order)
    return key === null
      ? listing
      : { name: `${plural} by ${key}`, forms: [/^[ -~]{0,64}$/, idForm] }
  }
  const shown = Object.entries(fields).filter(([, { isHidden }]) => !isHidden)
  const columns = Prisma.join(shown.map(selected))
  const json = eventJsonOf(shown)
  const tag = entityTagOf(shown)
  const bytes = Prisma.join([Prisma.sql`0`, ...shown.flatMap(largeOf)], ' + ')
  const readers = shown.map(([key, one]) => ({ key, read: columnTypes[one.column].read, one }))
  const insertedKeys = insertedKeysOf(resource)
  const inserted = Object.entries(fields).filter(([key]) => insertedKeys.includes(key))
  const changed = Object.entries(fields).filter(([key]) => isWritten(key, actions.update))
  const touched = Object.entries(fields).filter(([, { isTouched }]) => isTouched)

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
  const firstItem = ([row]: object[]) => (row === undefined ? null : toItem(row))

  /** The first lock of a statement that leaves before the program knows the caller. */
  const inScope =
    scope === 'owner'
      ? Prisma.sql`user_id = ${scopeUserId}`
      : Prisma.sql`tenant_id = ${scopeTenantId}`
  const inTeam =
    scope === 'chain'
      ? Prisma.sql` AND team_id IN (
        SELECT m.team_id FROM team_members m
        WHERE m.tenant_id = ${scopeTenantId} AND m.user_id = ${scopeUserId})`
      : Prisma.empty
  const fromRow = Prisma.sql`FROM ${table} WHERE ${inScope} AND id = `
  const people = Object.keys(fields).filter((key) => fields[key]?.isPerson)
  const names = people.map(
    (key) => Prisma.sql`, ${nameIn(table, fields, key)} AS ${quoted(`${key}Name`)}`,
  )
  const ofLinks = links
    .filter(({ from }) => from.name === resource.name)
    .map((link) => ({ link, ...targetOf(link, table) }))
  const headings = ofLinks.flatMap(({ link, heading }) =>
    heading === null ? [] : [Prisma.sql`, ${heading} AS ${quoted(`${link.key}Name`)}`],
  )
  names.push(...headings)
  const [selectRow, selectNamed] = [
    Prisma.sql`SELECT ${columns} ${fromRow}`,
    Prisma.sql`SELECT ${columns}${names.length === 0 ? Prisma.empty : Prisma.join(names, '')} ${fromRow}`,
  ]

  const access = { table: plural, selected: columns.text }
  const found: RowAccess = { ...access, does: 'find' }
  const foundNamed: RowAccess = { ...found, selected: Prisma.join([columns, ...names], '').text }
  const locked: RowAccess = { ...access, does: 'lock' }
  const added: RowAccess = { ...access, does: 'insert' }

  const findRow = composeOnce((id: number) => Prisma.sql`${selectRow}${id}${inTeam}`)

  function find(id: number, { expand = [] }: Further = {}) {
    if (expand.length === 0) return oneStatement(ofRow(findRow(id), found), firstItem)
    const { selected, read } = expanded(expand)
    const statement = Prisma.sql`SELECT ${columns}${selected} ${fromRow}${id}${inTeam}`
    const access = { ...found, selected: Prisma.join([columns, selected], '').text }
    return oneStatement(ofRow(statement, access), ([row]: Values[]) =>
      row === undefined ? null : read(row),
    )
  }

  /** Further columns with the JSON of other rows, and what reads them. */
  function expanded(wanted: readonly string[]) {
    const own = ofLinks.filter(({ link }) => wanted.includes(link.name))
    const selected = own.map(({ link, json }) => Prisma.sql`, ${json} AS ${quoted(link.name)}`)
    return {
      selected: selected.length === 0 ? Prisma.empty : Prisma.join(selected, ''),
      bytes: own.map(({ link }) => Prisma.sql` + coalesce(octet_length(${quoted(link.name)}), 0)`),
      read(row: Values): Item {
        const others = own.map(({ link: { name } }) => {
          const text = row[name] as string | null
          return [name, text === null ? null : JSON.parse(text)]
        })
        return { ...Object(toItem(row)), ...Object.fromEntries(others) }
      },
    }
  }

  /** The fields whose people and rows the caller may know by name. */
  function namedTo(caller: Asking): string[] {
    const ofRows = ofLinks.filter(({ link }) => mayRead(caller, link.to))
    return [...people, ...ofRows.map(({ link }) => link.key)]
  }

  function withNames(row: Values, known: readonly string[]): NamedItem<Item> {
    const own = known.map((key) => [key, row[`${key}Name`] ?? null])
    return { item: toItem(row), names: Object.fromEntries(own) }
  }

  function findWithNames(id: number) {
    const statement = ofRow(Prisma.sql`${selectNamed}${id}${inTeam}`, foundNamed)
    return oneStatement(statement, ([row]: Values[], caller: unknown) =>
      row === undefined ? null : withNames(row, namedTo(Object(caller))),
    )
  }

  async function list(
    tx: Tx,
    asking: RowScope,
    page: Page,
    filter: ListFilter = {},
    { expand = [], sort }: Further = {},
  ) {
    const { selected, bytes, read } = expanded(expand)
    return listRows(tx, asking, page, filter, { selected, bytes, read }, sortKeyOf(resource, sort))
  }

  async function listWithNames(tx: Tx, caller: Asking, page: Page, filter: ListFilter = {}) {
    const selected = headings.length === 0 ? Prisma.empty : Prisma.join(headings, '')
    const known = namedTo(caller)
    const read = (row: Values) => withNames(row, known)
    return listRows(tx, caller, page, filter, { selected, bytes: [], read })
  }

  async function choices(tx: Tx, caller: Asking, limit: number): Promise<Choice[]> {
    if (!mayRead(caller, resource)) return []
    const heading = headingOf(resource)
    const rows = await tx.sql<{ id: unknown; heading: string }>(Prisma.sql`
      SELECT id, ${heading === null ? Prisma.sql`id::text` : column(heading)} AS heading
      FROM ${table} WHERE ${within(caller)} ORDER BY id DESC LIMIT ${limit}`)
    return rows.map(({ id, heading }) => ({ id: Number(id), heading }))
  }

  async function listRows<T>(
    tx: Tx,
    asking: RowScope,
    page: Page,
    filter: ListFilter,
    { selected, bytes: furtherBytes, read }: Reading<T>,
    sortKey: string | null = null,
  ): Promise<PageResult<T>> {
    const { from, to, ...given } = filter
    const filters = Object.entries(given).flatMap(([key, value]) =>
      value === undefined ? [] : [filterOf(key, value)],
    )
    const times = timeConditions(Prisma.sql`created_at`, { from, to })
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
              : beyondIn(sortKey, page.after?.[0] ?? '', last, inReverse),
          ]
    // The name of a column is that of the table: what is selected can be its text.
    const sorted = sortKey === null ? null : Prisma.sql`${table}.${column(sortKey)}`
    const order =
      sorted === null
        ? Prisma.sql`id ${direction}`
        : Prisma.sql`${sorted} ${direction}, ${table}.id ${direction}`
    const position = sorted === null ? Prisma.empty : Prisma.sql`, ${sorted}::text AS position`
    const matching = Prisma.join([Prisma.sql`true`, ...filters, ...times, ...after], ' AND ')
    const limit = page.limit + 1
    const inOrder =
      scope === 'chain'
        ? Prisma.sql`
            SELECT ${columns}${selected} FROM ${table}
            WHERE ${firstInReach(table, chainOf(asking), { matching, direction, limit })}
            ORDER BY id ${direction}`
        : Prisma.sql`
            SELECT ${columns}${selected}${position} FROM ${table}
            WHERE ${within(asking)} AND ${matching} ORDER BY ${order} LIMIT ${limit}`
    const size = Prisma.join([bytes, ...furtherBytes], '')
    const rows = await tx.sql<Values>(withinBytes(inOrder, size))
    const { name } = listingBy(sortKey ?? undefined)
    const positionOf = ({ id, position }: Values) =>
      sortKey === null ? [String(id)] : [String(position ?? ''), String(id)]
    return pageOf(rows, page, name, positionOf, read)
  }

  /** `status`, `status[in]`, `dueOn[gte]` or `dueOn[lt]`. */
  function filterOf(name: string, value: string): Prisma.Sql {
    const [, key = name, comparison] = /^(\w+)\[(\w+)\]$/.exec(name) ?? []
    const one = filterable(key)
    if (comparison === 'in') {
      const type = Prisma.raw(one.column)
      return Prisma.sql`${column(key)} = ANY(string_to_array(${value}, ',')::${type}[])`
    }
    const operator = { gte: Prisma.sql`>=`, lt: Prisma.sql`<` }[comparison ?? ''] ?? Prisma.sql`=`
    return Prisma.sql`${column(key)} ${operator} ${parameterOf(one, value)}`
  }

  /** The rows after one with this value and id. NULL is greater than any value, as in an index. */
  function beyondIn(key: string, value: string, id: string, inReverse: boolean): Prisma.Sql {
    const one = filterable(key)
    const [sorted, row] = [column(key), Prisma.sql`(${column(key)}, id)`]
    const isNull = Prisma.sql`${sorted} IS NULL`
    if (value === '') {
      return inReverse
        ? Prisma.sql`(${isNull} AND id > ${id}::bigint)`
        : Prisma.sql`(${sorted} IS NOT NULL OR id < ${id}::bigint)`
    }
    const last = Prisma.sql`(${castTo(one, value)}, ${id}::bigint)`
    if (!inReverse) return Prisma.sql`${row} < ${last}`
    return one.isNullable
      ? Prisma.sql`(${row} > ${last} OR ${isNull})`
      : Prisma.sql`${row} > ${last}`
  }

  function filterable(key: string): Field {
    const one = fields[key]
    if (one === undefined) throw new Error(`The resource ${resource.name} has no field ${key}.`)
    return one
  }

  /** The first lock in a statement of a transaction that has entered. */
  function within({ userId, tenantId, homeId = null }: RowScope): Prisma.Sql {
    if (scope === 'owner') {
      const atHome = homeId === null ? Prisma.empty : Prisma.sql` AND tenant_id = ${homeId}::uuid`
      return Prisma.sql`user_id = ${userId}${atHome}`
    }
    if (scope === 'tenant') return Prisma.sql`tenant_id = ${tenantId}::uuid`
    return inReach(chainOf({ userId, tenantId }))
  }

  async function lock(tx: Pick<Tx, 'sql'>, asking: RowScope, id: number) {
    const statement = Prisma.sql`
      SELECT ${columns} FROM ${table} WHERE ${within(asking)} AND id = ${id} FOR UPDATE`
    return firstItem(await tx.sql(ofRow(statement, locked)))
  }

  function insertion(caller: Asking, values: Values, now: Date): Prisma.Sql {
    const { userId, tenantId } = caller
    const written = inserted.map(([key, one]) =>
      sentAs(one, values[key] ?? one.initial?.(caller, now) ?? null),
    )
    if (scope !== 'chain')
      return insertRow(...[tenantId, userId].slice(0, ownKeys.length), ...written)
    return insertInFolder(...written, tenantId, values.folderId, tenantId, userId)
  }

  const ownKeys = scope === 'owner' ? ['tenantId', 'userId'] : ['tenantId']
  const insertedColumns = inserted.map(([key]) => column(key))
  const casts = (values: readonly unknown[]) =>
    inserted.map(([, one], index) => castTo(one, values[index]))

  const insertRow = composeOnce((...values: readonly unknown[]) => {
    const [tenantId, userId] = values
    const own = [Prisma.sql`${tenantId}::uuid`, Prisma.sql`${userId}`].slice(0, ownKeys.length)
    return Prisma.sql`
      INSERT INTO ${table} (${Prisma.join([...ownKeys.map(column), ...insertedColumns])})
      VALUES (${Prisma.join([...own, ...casts(values.slice(ownKeys.length))])}) RETURNING ${columns}`
  })

  // The lock on the folder keeps its team until the row is inserted.
  const insertInFolder = composeOnce((...values: readonly unknown[]) => {
    const [tenantId, folderId, sameTenantId, userId] = values.slice(inserted.length)
    return Prisma.sql`
      INSERT INTO ${table} (${Prisma.join([Prisma.sql`tenant_id, folder_id, team_id`, ...insertedColumns])})
      SELECT ${Prisma.join([Prisma.sql`f.tenant_id, f.id, f.team_id`, ...casts(values)])} FROM folders f
      WHERE f.tenant_id = ${tenantId}::uuid AND f.id = ${folderId} AND f.team_id IN (
        SELECT m.team_id FROM team_members m
        WHERE m.tenant_id = ${sameTenantId}::uuid AND m.user_id = ${userId})
      FOR KEY SHARE OF f RETURNING ${columns}`
  })

  // One text for all changes, so that a connection keeps one plan for them.
  function changing(
    asking: RowScope,
    id: number,
    values: Values,
    now: Date,
    tags: Tags = null,
  ): Prisma.Sql {
    const set = changed.map(([key, one]) => {
      const value = parameterOf(one, values[key] ?? null)
      const isGiven = values[key] !== undefined
      return Prisma.sql`${column(key)} = CASE WHEN ${isGiven}::boolean THEN ${value} ELSE ${column(key)} END`
    })
    const times = touched.map(([key, one]) => Prisma.sql`${column(key)} = ${parameterOf(one, now)}`)
    return Prisma.sql`
      UPDATE ${table} SET ${Prisma.join([...set, ...times])}
      WHERE ${within(asking)} AND id = ${id}${tagged(tags)} RETURNING ${columns}`
  }

  function removal(asking: RowScope, id: number, tags: Tags = null): Prisma.Sql {
    return Prisma.sql`
      DELETE FROM ${table} WHERE ${within(asking)} AND id = ${id}${tagged(tags)} RETURNING ${columns}`
  }

  function tagged(tags: Tags): Prisma.Sql {
    return tags === null ? Prisma.empty : Prisma.sql` AND ${tag} = ANY(${[...tags]}::text[])`
  }

  async function enterHome(tx: Tx, id: number) {
    const enter = Prisma.raw(homeFunctionOf(resource))
    const [entered] = await tx.sql<{
      tenantId: string | null
    }>`SELECT ${enter}(${id}) AS "tenantId"`
    return entered?.tenantId ?? null
  }

  return {
    ...{
      columns,
      toItem,
      json,
      listing,
      listingBy,
      find,
      findWithNames,
      list,
      listWithNames,
      choices,
      lock,
    },
    ...{ insertion, changing, removal, enterHome },
    insert: async (tx, ...given) => firstItem(await tx.sql(ofRow(insertion(...given), added))),
    update: async (tx, ...given) => firstItem(await tx.sql(changing(...given))),
    remove: async (tx, ...given) => firstItem(await tx.sql(removal(...given))),
  }
}

type Reading<T> = {
  /** Further columns, each after a comma. */
  readonly selected: Prisma.Sql
  /** What they add to the bytes of a row. */
  readonly bytes: readonly Prisma.Sql[]
  read(row: Values): T
}

/** The field of an order; null for that by the id. */
function sortKeyOf({ sort }: Resource, order: string | undefined): string | null {
  const key = order?.replace(/^-/, '')
  return sort.find((one) => one === key) ?? null
}

/** Decided without a row: conditions are about changes. */
function mayRead(caller: Asking, { name }: Resource): boolean {
  const subject = caller as Asking & Subject
  return decideWithoutObject({ caller: subject, resource: name, action: 'read' }).effect === 'allow'
}

/** The field that names a row on pages, if it is a text. */
function headingOf({ page, fields }: Resource): string | null {
  return page !== null && fields[page.heading]?.column === 'text' ? page.heading : null
}

/**
 * SQL for the row that a reference leads to: its heading, and its JSON. The first lock is the scope of the row that
 * refers to it, which the foreign key has too; row-level security is the second.
 */
function targetOf({ key, to, foreignKey }: Link, table: Prisma.Sql) {
  const keys = foreignKey.targetColumns.map(
    (one, index) =>
      Prisma.sql`target.${Prisma.raw(one)} = ${table}.${Prisma.raw(foreignKey.columns[index] ?? columnOf(key))}`,
  )
  const from = Prisma.sql`FROM ${Prisma.raw(to.plural)} AS target WHERE ${Prisma.join(keys, ' AND ')}`
  const shown = Object.entries(to.fields).filter(([, { isHidden }]) => !isHidden)
  const columns = Prisma.join(shown.map(selected))
  const heading = headingOf(to)
  return {
    heading: heading && Prisma.sql`(SELECT target.${column(heading)} ${from})`,
    json: Prisma.sql`(SELECT ${eventJsonOf(shown)} FROM (SELECT ${columns} ${from}) AS changed)`,
  }
}

function chainOf({ userId, tenantId }: RowScope): ChainScope {
  if (userId === null || tenantId === null)
    throw new Error('Only a member reaches rows of a chain.')
  return { userId, tenantId }
}

const column = (key: string) => Prisma.raw(columnOf(key))
const quoted = (name: string) => Prisma.raw(`"${name}"`)

/** A column under the name of its field. */
function selected([key, one]: [string, Field]): Prisma.Sql {
  const value = selectedOf(one, columnOf(key))
  return value === key ? column(key) : Prisma.sql`${Prisma.raw(value)} AS ${quoted(key)}`
}

/** The bytes of a column that can be large. */
function largeOf([key, { column: type, isNullable }]: [string, Field]): Prisma.Sql[] {
  if (!columnTypes[type].isLarge) return []
  const bytes = Prisma.sql`octet_length(${quoted(key)}::text)`
  return [isNullable ? Prisma.sql`coalesce(${bytes}, 0)` : bytes]
}

/** A value as a parameter with the type of its column. */
function parameterOf(field: Field, value: unknown): Prisma.Sql {
  return castTo(field, sentAs(field, value))
}

function sentAs({ column }: Field, value: unknown): unknown {
  const { sent } = columnTypes[column]
  return sent === undefined || value === null ? value : sent(value)
}

function castTo({ column }: Field, sent: unknown): Prisma.Sql {
  return Prisma.sql`${sent}::${Prisma.raw(column)}`
}

/** The name or address of a person while they are a member; of a service token, while it exists, instead. */
function nameIn(table: Prisma.Sql, fields: Fields, key: string): Prisma.Sql {
  const service = Object.keys(fields).find((one) => fields[one]?.isService)
  const ofPerson = Prisma.sql`(SELECT coalesce(u.name, u.email) FROM users u
         JOIN memberships m ON m.user_id = u.id AND m.tenant_id = ${table}.tenant_id
         WHERE u.id = ${table}.${column(key)})`
  if (service === undefined) return ofPerson
  return Prisma.sql`coalesce(
        (SELECT s.name FROM service_tokens s
         WHERE s.tenant_id = ${table}.tenant_id AND s.id = ${table}.${column(service)}),
        ${ofPerson})`
}
