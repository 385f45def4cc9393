import type pg from 'pg'
import type { Column, ForeignKey, Table } from './table.ts'

export type PresentColumn = Column & {
  /** A value that no INSERT has to give. */
  readonly isFilled: boolean
  readonly isGenerated: boolean
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
           'isGenerated', a.attidentity <> '' OR a.attgenerated <> '') ORDER BY a.attnum) AS all
       FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
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
