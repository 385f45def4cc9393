import type pg from 'pg'
import type { Resource } from '#src/resources/kit/define.ts'
import { computedOf } from '#src/resources/kit/fields/computed.ts'
import { columnOf } from '#src/resources/kit/names.ts'
import { definitionOf } from './statements.ts'
import type { Column, ForeignKey, Table } from './table.ts'

export type PresentColumn = Column & {
  /** A value that no INSERT has to give. */
  readonly isFilled: boolean
  readonly isGenerated: boolean
  /** The database computes it as its field says (`markComputed`). */
  readonly isAsDeclared?: boolean
}

export type PresentKey = ForeignKey & { readonly name: string }

/** A table as the catalogue has it. */
export type PresentTable = Omit<Table, 'columns' | 'foreignKeys'> & {
  readonly columns: readonly PresentColumn[]
  readonly foreignKeys: readonly PresentKey[]
  /** Of every index, those included that no list can use. */
  readonly indexNames: readonly string[]
  readonly isUnderRls: boolean
  readonly isForced: boolean
}

/** The tables of the schema `public`, by name. */
export async function readTables(client: pg.ClientBase): Promise<Map<string, PresentTable>> {
  const { rows } = await client.query<PresentTable>(
    `SELECT c.relname AS name, c.relrowsecurity AS "isUnderRls", c.relforcerowsecurity AS "isForced",
       columns.all AS columns, coalesce(keys.primary_key, '[]') AS "primaryKey",
       coalesce(keys.unique_keys, '[]') AS "uniqueKeys", coalesce(keys.indexes, '[]') AS indexes,
       coalesce(keys.names, '[]') AS "indexNames", coalesce(foreign_keys.all, '[]') AS "foreignKeys"
     FROM pg_class c
     CROSS JOIN LATERAL (
       SELECT json_agg(json_build_object('name', a.attname, 'notNull', a.attnotnull,
           -- The precision of a time is none of a declaration's.
           'type', format_type(a.atttypid, CASE WHEN a.atttypid = 'numeric'::regtype THEN a.atttypmod END),
           'isFilled', a.atthasdef OR a.attidentity <> '' OR a.attgenerated <> '',
           'isGenerated', a.attidentity <> '' OR a.attgenerated <> '',
           'computes', CASE WHEN a.attgenerated <> '' THEN pg_get_expr(d.adbin, d.adrelid) END) ORDER BY a.attnum) AS all
       FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     ) columns
     CROSS JOIN LATERAL (
       SELECT json_agg(k.columns) FILTER (WHERE k.usable) AS indexes,
         json_agg(json_build_object('columns', k.columns, 'name', k.name))
           FILTER (WHERE k.usable AND i.indisunique AND NOT i.indisprimary) AS unique_keys,
         (json_agg(k.columns) FILTER (WHERE i.indisprimary)) -> 0 AS primary_key,
         json_agg(k.name) AS names
       FROM pg_index i CROSS JOIN LATERAL (
         SELECT ic.relname AS name, ${namesOf('i.indrelid', '(i.indkey::smallint[])[0:i.indnkeyatts - 1]')} AS columns,
           i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL AND am.amname = 'btree' AS usable
         FROM pg_class ic JOIN pg_am am ON am.oid = ic.relam WHERE ic.oid = i.indexrelid
       ) k WHERE i.indrelid = c.oid
     ) keys
     CROSS JOIN LATERAL (
       SELECT json_agg(json_build_object('name', f.conname, 'table', r.relname,
         'columns', ${namesOf('f.conrelid', 'f.conkey')}, 'references', ${namesOf('f.confrelid', 'f.confkey')},
         'cleared', ${namesOf('f.conrelid', 'f.confdelsetcols')},
         'onDelete', CASE f.confdeltype WHEN 'a' THEN 'NO ACTION' WHEN 'r' THEN 'RESTRICT' WHEN 'c' THEN 'CASCADE'
           WHEN 'n' THEN 'SET NULL' ELSE 'SET DEFAULT' END)) AS all
       FROM pg_constraint f JOIN pg_class r ON r.oid = f.confrelid
       WHERE f.conrelid = c.oid AND f.contype = 'f'
     ) foreign_keys
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')`,
  )
  return new Map(rows.map((table) => [table.name, table]))
}

/** SQL for the names of the columns with the given numbers, in their order. */
function namesOf(table: string, numbers: string): string {
  return `coalesce((SELECT json_agg(a.attname ORDER BY n.place) FROM unnest(${numbers}) WITH ORDINALITY n (number, place)
    JOIN pg_attribute a ON a.attrelid = ${table} AND a.attnum = n.number), '[]')`
}

/**
 * Marks the columns that the database computes as their fields say. PostgreSQL keeps an expression in its own words, so
 * it is asked how it would keep that of the field.
 * @param client of the owner, in no transaction
 */
export async function markComputed(
  client: pg.ClientBase,
  resources: readonly Resource[],
  tables: ReadonlyMap<string, PresentTable>,
): Promise<Map<string, PresentTable>> {
  const marked = new Map(tables)
  for (const { plural, renamedFrom, fields } of resources) {
    const table = tables.get(plural) ?? tables.get(renamedFrom ?? '')
    if (table === undefined) continue
    const has = (name: string) => table.columns.some((one) => one.name === name)
    const nameOf = (key: string) => {
      const before = columnOf(fields[key]?.renamedFrom ?? key)
      return has(columnOf(key)) ? columnOf(key) : before
    }
    const same = new Set<string>()
    for (const { key, sql } of computedOf(fields, nameOf)) {
      const column = table.columns.find(({ name }) => name === nameOf(key))
      if (column?.computes == null) continue
      const kept = await keptAs(client, table.name, { ...column, computes: sql })
      if (kept === column.computes) same.add(column.name)
    }
    const columns = table.columns.map((one) => ({ ...one, isAsDeclared: same.has(one.name) }))
    marked.set(table.name, { ...table, columns })
  }
  return marked
}

/** How PostgreSQL keeps the expression; null if it refuses it. */
async function keptAs(client: pg.ClientBase, table: string, column: Column) {
  const name = 'computed_probe'
  await client.query('BEGIN')
  try {
    await client.query(`ALTER TABLE ${table} ADD COLUMN ${definitionOf({ ...column, name })}`)
    const { rows } = await client.query<{ kept: string }>(
      `SELECT pg_get_expr(d.adbin, d.adrelid) AS kept FROM pg_attrdef d
       JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
       WHERE d.adrelid = $1::regclass AND a.attname = $2`,
      [table, name],
    )
    return rows[0]?.kept ?? null
  } catch {
    return null
  } finally {
    await client.query('ROLLBACK')
  }
}
