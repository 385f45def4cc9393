import type { Resource } from './define.ts'
import { columnOf } from './names.ts'

/* Names that SQL, JavaScript or the program has for something else. */

/** Key words that PostgreSQL takes as no name of a table or column without quotes: `pg_get_keywords()`, R and T. */
export const sqlWords: ReadonlySet<string> = new Set(
  `all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation
  column concurrently constraint create cross current_catalog current_date current_role current_schema current_time
  current_timestamp current_user default deferrable desc distinct do else end except false fetch for foreign freeze
  from full grant group having ilike in initially inner intersect into is isnull join lateral leading left like limit
  localtime localtimestamp natural not notnull null offset on only or order outer overlaps placing primary references
  returning right select session_user similar some symmetric system_user table tablesample then to trailing true union
  unique user using variadic verbose when where window with`.split(/\s+/),
)

/** Columns that every table of PostgreSQL has. */
const systemColumns = ['ctid', 'xmin', 'xmax', 'cmin', 'cmax', 'tableoid']

/** A field of this name would stand where the program has the type of an event, and the tenant of a row. */
const ofProgram = ['type', 'tenant']

/** Operations that the program has for every resource, whatever its actions are. */
const ofEvery = ['get', 'list']

/** Whether every object of JavaScript has something of this name. */
const isOfObjects = (name: string) => name in Object.prototype

/** Names of a declaration that mean something else to PostgreSQL, JavaScript or the program. */
export function reservedFaultsOf({
  name,
  plural,
  fields,
  own,
  events,
}: Resource): [boolean, string][] {
  const keys = Object.keys(fields)
  const inSql = keys.find((key) => sqlWords.has(columnOf(key)))
  const inTables = keys.find((key) => systemColumns.includes(key))
  const inProgram = keys.find((key) => ofProgram.includes(key))
  const action = Object.keys(own).find((one) => ofEvery.includes(one))
  const named = [name, plural, ...keys, ...Object.keys(own), ...Object.keys(events)]
  const inObjects = named.find(isOfObjects)
  return [
    [
      inObjects !== undefined,
      `has the name ${inObjects}, which every object of JavaScript has: choose another one`,
    ],
    [sqlWords.has(plural), `has the plural ${plural}, a key word of SQL: choose another one`],
    [inSql !== undefined, `has the field ${inSql}, a key word of SQL: give it another name`],
    [
      inTables !== undefined,
      `has the field ${inTables}, which every table of PostgreSQL has: give it another name`,
    ],
    [
      inProgram !== undefined,
      `has the field ${inProgram}, which the program has for something else: give it another name, such as ${inProgram === 'type' ? 'kind' : 'customer'}`,
    ],
    [
      action !== undefined,
      `has the action ${action}, which every resource has as an operation: give it another name`,
    ],
  ]
}
