import type { TSchema } from 'typebox'
import { Prisma } from '#src/db/generated/client.ts'
import { columns } from '#src/resources/kit/fields/columns.ts'
import type { Field } from '#src/resources/kit/fields/field.ts'
import { columnOf } from '#src/resources/kit/names.ts'

/*
 * Rows as JSON, made by the database: what its statements publish, and what they compare with If-Match.
 */

/** SQL for what `JSON.stringify(toItem(row))` means, from a row `changed` that has the names of the fields. */
export function eventJsonOf(shown: readonly (readonly [string, Field])[]): Prisma.Sql {
  const members = shown.map(([key, one]) =>
    memberOf(key, jsonOf(one, `changed."${key}"`), one.isOmitted),
  )
  return objectOf(members)
}

/**
 * SQL for the ETag of the response with a row (`tagOf`), from the columns of its table. It is never the tag of
 * another row or version: if the text differs from that of the serializer, it is the tag of no response at all.
 */
export function entityTagOf(shown: readonly (readonly [string, Field])[]): Prisma.Sql {
  const inOrder = requiredFirst(shown, ([, one]) => isAlwaysThere(one))
  const members = inOrder.map(([key, one]) => {
    const name = columnOf(key)
    const text =
      one.column === 'jsonb'
        ? schemaJsonOf(one.shown, Prisma.raw(name))
        : jsonOf(one, selectedOf(one, name))
    return memberOf(key, text, one.isOmitted)
  })
  const hash = Prisma.sql`substring(sha256(convert_to(${objectOf(members)}, 'UTF8')) FOR 16)`
  return Prisma.sql`'"' || rtrim(translate(encode(${hash}, 'base64'), '+/', '-_'), '=') || '"'`
}

/**
 * The text that the serializer of responses (fast-json-stringify) writes for a JSON value. A value that has another
 * form than the schema keeps PostgreSQL's text, so different values always have different texts.
 */
function schemaJsonOf(schema: TSchema, value: Prisma.Sql): Prisma.Sql {
  const { type, properties = {}, required = [], items, anyOf } = schema as Schema
  if (anyOf?.[0] !== undefined) return schemaJsonOf(anyOf[0], value) // or null
  if (type === 'array' && items !== undefined) {
    const item = schemaJsonOf(items, Prisma.raw('item.value'))
    return Prisma.sql`
      CASE WHEN jsonb_typeof(${value}) IS DISTINCT FROM 'array' THEN ${value}::text
      ELSE (SELECT concat('[', string_agg(${item}, ',' ORDER BY item.n), ']')
        FROM jsonb_array_elements(${value}) WITH ORDINALITY AS item(value, n)) END`
  }
  const keys = requiredFirst(Object.keys(properties), (key) => required.includes(key))
  if (type !== 'object' || keys.length === 0) return asText(value)
  const members = keys.map((key) =>
    memberOf(
      key,
      schemaJsonOf(Object(properties[key]), Prisma.sql`(${value} -> ${literal(key)})`),
      true,
    ),
  )
  const known = Prisma.sql`ARRAY[${Prisma.join(keys.map(literal))}]::text[]`
  return Prisma.sql`
    CASE WHEN jsonb_typeof(${value}) IS DISTINCT FROM 'object' THEN ${value}::text
    WHEN ${value} - ${known} <> '{}' THEN ${value}::text ELSE ${objectOf(members)} END`
}

type Schema = {
  readonly type?: string
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly required?: readonly string[]
  readonly items?: TSchema
  readonly anyOf?: readonly TSchema[]
}

/** Whether every response with the row has the field. */
function isAlwaysThere({ isOmitted, permission }: Field): boolean {
  return isOmitted !== true && permission === undefined
}

/** The order in which the serializer writes members. */
function requiredFirst<One>(all: readonly One[], isRequired: (one: One) => boolean): One[] {
  return [...all.filter(isRequired), ...all.filter((one) => !isRequired(one))]
}

function objectOf(members: readonly Prisma.Sql[]): Prisma.Sql {
  return Prisma.sql`concat('{', concat_ws(',', ${Prisma.join([...members])}), '}')`
}

/** A member of an object; NULL if it is left out. */
function memberOf(key: string, text: Prisma.Sql, isOmitted = false): Prisma.Sql {
  const name = literal(`${JSON.stringify(key)}:`)
  return isOmitted
    ? Prisma.sql`${name} || ${text}`
    : Prisma.sql`${name} || coalesce(${text}, 'null')`
}

const literal = (text: string) => Prisma.raw(`'${text.replaceAll("'", "''")}'`)
const asText = (value: Prisma.Sql) => Prisma.sql`${value}::text`
/** SQL for what statements select of a column. */
export const selectedOf = ({ column }: Field, name: string) =>
  columns[column].selected?.(name) ?? name
const jsonOf = ({ column }: Field, sql: string) => Prisma.raw(columns[column].json(sql))
