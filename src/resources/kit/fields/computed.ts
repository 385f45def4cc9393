import type { TSchema } from 'typebox'
import { columnOf } from '../names.ts'
import type { ColumnTypes } from './columns.ts'
import type { Field } from './field.ts'

/** The columns of a row by the names of their fields, for an expression. */
type Columns = { readonly [field: string]: string }

/**
 * A value that the database computes from other fields of the row, and no request writes. Lists are filtered and sorted by
 * it as by a field of its kind.
 * @param kind of the value: a text, number, flag, date or time. It is `optional(computed(…))` if it can be NULL
 * @param expression SQL from the columns of the fields that it reads. PostgreSQL accepts what depends on nothing else:
 *   no time, setting or other row
 */
export function computed<Column extends keyof ColumnTypes, Shown extends TSchema>(
  kind: Field<Column, false, Shown>,
  expression: (columns: Columns) => string,
): Field<Column, false, Shown, null> {
  const { isPerson = false, refersTo, isCurrency = false } = kind
  const isFit = fitting.has(kind.column) && !isPerson && !isCurrency && refersTo === undefined
  return {
    ...kind,
    written: null,
    computes: expression,
    ...(!isFit && { fault: 'that is computed, and is no text, number, flag, date or time' }),
  }
}

const fitting: ReadonlySet<keyof ColumnTypes> = new Set([
  ...(['text', 'bigint', 'integer', 'boolean', 'numeric', 'date', 'timestamptz'] as const),
])

type Computed = {
  readonly key: string
  readonly sql: string
  /** The fields that it reads. */
  readonly reads: readonly string[]
}

/**
 * The computed fields of a resource.
 * @param nameOf the column of a field
 */
export function computedOf(
  fields: Readonly<Record<string, Field>>,
  nameOf: (key: string) => string = columnOf,
): Computed[] {
  return Object.entries(fields).flatMap(([key, { computes }]) => {
    if (computes === undefined) return []
    const reads = new Set<string>()
    const columns = new Proxy<Columns>(
      {},
      {
        get(_none, field) {
          reads.add(String(field))
          return nameOf(String(field))
        },
      },
    )
    return [{ key, sql: computes(columns), reads: [...reads] }]
  })
}
