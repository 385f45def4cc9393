import { decideWithoutObject, type Subject } from '#src/access/policy.ts'
import { Prisma } from '#src/db/generated/client.ts'
import type { Resource } from '#src/resources/kit/define.ts'
import type { Asking, Fields } from '#src/resources/kit/fields/field.ts'
import { membersOf } from '#src/resources/kit/fields/keys/member.ts'
import type { Link } from '#src/resources/kit/links.ts'
import { columnOf } from '#src/resources/kit/names.ts'
import { column, quoted, selected } from './columns.ts'
import { eventJsonOf } from './row-json.ts'
import { seenBy } from './seen.ts'
import { type Table, toldOf, type Values } from './table.ts'

/* What a row names: people by their names, rows of other resources by their headings or as JSON. */

export type NamedItem<Item> = {
  readonly item: Item
  /** By field. */
  readonly names: Readonly<Record<string, string | null>>
}

/** Further columns of a statement, and what makes the result of a row that has them. */
export type Reading<T> = {
  /** Each after a comma. */
  readonly selected: Prisma.Sql
  /** What they add to the bytes of a row. */
  readonly bytes: readonly Prisma.Sql[]
  read(row: Values, caller: Partial<Asking>): T
}

export type Names<Item> = {
  /** The names of people, then the headings of rows. Each after a comma. */
  readonly selected: Prisma.Sql
  /** Those that lists show: all but the names of authors that are no column of the page. */
  readonly listed: Prisma.Sql
  /** The fields whose people and rows the caller may know by name. */
  namedTo(caller: Asking): string[]
  withNames(row: Values, known: readonly string[], caller: Asking): NamedItem<Item>
}

/** @param links from the resource */
export function namesOf<Item>(table: Table<Item>, links: readonly Link[]): Names<Item> {
  const { fields } = table.resource
  const people = Object.keys(fields).filter((key) => fields[key]?.isPerson)
  const shown = table.resource.page?.columns ?? []
  const isListed = (key: string) => fields[key]?.onLeave !== undefined || shown.includes(key)
  const nameOf = (key: string) =>
    Prisma.sql`, ${nameIn(table.name, fields, key)} AS ${quoted(`${key}Name`)}`
  const headings = links.flatMap((link) => {
    const { heading } = targetOf(link, table.name)
    return heading === null ? [] : [Prisma.sql`, ${heading} AS ${quoted(`${link.key}Name`)}`]
  })
  return {
    selected: joined([...people.map(nameOf), ...headings]),
    listed: joined([...people.filter(isListed).map(nameOf), ...headings]),
    namedTo(caller) {
      const ofRows = links.filter(({ to }) => mayRead(caller, to))
      return [...people, ...ofRows.map(({ key }) => key)]
    },
    withNames(row, known, caller) {
      const own = known.map((key) => [key, row[`${key}Name`] ?? null])
      return {
        item: seenBy(table.resource, caller, table.toItem(row)),
        names: Object.fromEntries(own),
      }
    },
  }
}

/**
 * The reading of rows with the JSON of others, and of members by their names.
 * @param links from the resource
 * @returns from the names of links (`Link.name`) and members
 */
export function expansionsOf<Item>(table: Table<Item>, links: readonly Link[]) {
  const { fields } = table.resource
  const all = [
    ...links.map((link) => ({ name: link.name, json: targetOf(link, table.name).json })),
    ...membersOf(fields).map(({ key, name }) => ({ name, json: memberJsonOf(table.name, key) })),
  ]
  return (wanted: readonly string[]): Reading<Item> => {
    const own = all.filter(({ name }) => wanted.includes(name))
    return {
      selected: joined(own.map(({ name, json }) => Prisma.sql`, ${json} AS ${quoted(name)}`)),
      bytes: own.map(({ name }) => Prisma.sql` + coalesce(octet_length(${quoted(name)}), 0)`),
      read(row, caller) {
        const others = own.map(({ name }) => {
          const text = row[name] as string | null
          return [name, text === null ? null : JSON.parse(text)]
        })
        return {
          ...Object(seenBy(table.resource, caller, table.toItem(row))),
          ...Object.fromEntries(others),
        }
      },
    }
  }
}

/** Decided without a row: conditions are about changes. */
export function mayRead(caller: Asking, { name }: Resource): boolean {
  const subject = caller as Asking & Subject
  return decideWithoutObject({ caller: subject, resource: name, action: 'read' }).effect === 'allow'
}

/** The field that names a row on pages, if it is a text. */
export function headingOf({ page, fields }: Resource): string | null {
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
  const shown = toldOf(Object.entries(to.fields).filter(([, { isHidden }]) => !isHidden))
  const columns = Prisma.join(shown.map(selected))
  const heading = headingOf(to)
  return {
    heading: heading && Prisma.sql`(SELECT target.${column(heading)} ${from})`,
    json: Prisma.sql`(SELECT ${eventJsonOf(shown)} FROM (SELECT ${columns} ${from}) AS changed)`,
  }
}

/** The name or address of a person while they are a member; of a service token, while it exists, instead. */
function nameIn(table: Prisma.Sql, fields: Fields, key: string): Prisma.Sql {
  const service = Object.keys(fields).find((one) => fields[one]?.isService)
  const ofPerson = memberNameIn(table, key)
  if (service === undefined || fields[key]?.onLeave !== undefined) return ofPerson
  return Prisma.sql`coalesce(
        (SELECT s.name FROM service_tokens s
         WHERE s.tenant_id = ${table}.tenant_id AND s.id = ${table}.${column(service)}),
        ${ofPerson})`
}

function memberNameIn(table: Prisma.Sql, key: string): Prisma.Sql {
  return Prisma.sql`(SELECT coalesce(u.name, u.email) FROM users u
         JOIN memberships m ON m.user_id = u.id AND m.tenant_id = ${table}.tenant_id
         WHERE u.id = ${table}.${column(key)})`
}

/** A member in a response: the id, and the name as pages show it. */
function memberJsonOf(table: Prisma.Sql, key: string): Prisma.Sql {
  const id = Prisma.sql`${table}.${column(key)}`
  return Prisma.sql`
        CASE WHEN ${id} IS NULL THEN NULL
        ELSE json_build_object('id', ${id}, 'name', ${memberNameIn(table, key)})::text END`
}

function joined(columns: readonly Prisma.Sql[]): Prisma.Sql {
  return columns.length === 0 ? Prisma.empty : Prisma.join([...columns], '')
}
