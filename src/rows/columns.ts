import { Prisma } from '#src/db/generated/client.ts'
import { columns } from '#src/resources/kit/fields/columns.ts'
import type { Field } from '#src/resources/kit/fields/field.ts'
import { columnOf } from '#src/resources/kit/names.ts'
import { selectedOf } from './row-json.ts'

/* SQL for the column of a field, and for a value of it. */

export const column = (key: string) => Prisma.raw(columnOf(key))
export const quoted = (name: string) => Prisma.raw(`"${name}"`)

/** A column under the name of its field. */
export function selected([key, one]: readonly [string, Field]): Prisma.Sql {
  const value = selectedOf(one, columnOf(key))
  return value === key ? column(key) : Prisma.sql`${Prisma.raw(value)} AS ${quoted(key)}`
}

/** The bytes of a column that can be large. */
export function largeOf([key, { column: type, isNullable }]: readonly [
  string,
  Field,
]): Prisma.Sql[] {
  if (!columns[type].isLarge) return []
  const bytes = Prisma.sql`octet_length(${quoted(key)}::text)`
  return [isNullable ? Prisma.sql`coalesce(${bytes}, 0)` : bytes]
}

/** A value as a parameter with the type of its column. */
export function parameterOf(field: Field, value: unknown): Prisma.Sql {
  return castTo(field, sentAs(field, value))
}

/** A value as statements send it. */
export function sentAs({ column }: Field, value: unknown): unknown {
  const { sent } = columns[column]
  return sent === undefined || value === null ? value : sent(value)
}

/** What is sent, with the type of its column. */
export function castTo({ column }: Field, sent: unknown): Prisma.Sql {
  return Prisma.sql`${sent}::${Prisma.raw(column)}`
}
