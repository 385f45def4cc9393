import { type Column, type ForeignKey, listOf, type Table } from './table.ts'

/** A statement, with warnings for the person who applies it. */
export type Step = { readonly sql: string; readonly warnings: readonly string[] }

export const step = (sql: string, ...warnings: string[]): Step => ({ sql, warnings })

export const oldProcesses =
  'Processes that have not been replaced yet fail from then on: it is a contract step (docs/upgrades.md).'

/** An unused name of an index. */
export type NameOf = (table: string, columns: readonly string[], suffix?: string) => string

export function createTable(
  table: Table,
  nameOf: NameOf,
  define: (column: Column) => string = definitionOf,
): Step[] {
  const { name, columns, primaryKey, uniqueKeys, foreignKeys, indexes } = table
  const lines = [
    ...columns.map(define),
    `PRIMARY KEY ${listOf(primaryKey)}`,
    ...uniqueKeys.map(({ columns, name }) => `${constraint(name)}UNIQUE ${listOf(columns)}`),
    ...foreignKeys.map(foreignKeyOf),
  ]
  return [
    step(`CREATE TABLE ${name} (\n${lines.map((line) => `  ${line}`).join(',\n')}\n);`),
    ...indexes.map((one) => step(createIndex(name, one, nameOf))),
    step(`ALTER TABLE ${name} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;`),
  ]
}

/** A column of a new table. */
export function definitionOf({ name, type, notNull, computes }: Column): string {
  if (name === 'id') return 'id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991)'
  const isTime = name === 'created_at' || name === 'updated_at'
  const given = isTime ? ' DEFAULT CURRENT_TIMESTAMP' : ''
  const from = computes === undefined ? '' : ` GENERATED ALWAYS AS (${computes}) STORED`
  return `${name} ${spelled(type)}${from}${notNull ? ' NOT NULL' : ''}${given}`
}

/** A time has microseconds, as the tables of the program have. */
export function spelled(type: string): string {
  return type === 'timestamp with time zone' ? 'timestamptz(6)' : type
}

function constraint(name: string | undefined): string {
  return name === undefined ? '' : `CONSTRAINT ${name} `
}

/** A foreign key in a CREATE TABLE. */
export function foreignKeyOf(key: ForeignKey): string {
  const { name, columns, table, references, onDelete, cleared = [] } = key
  const of = cleared.length > 0 ? ` ${listOf(cleared)}` : ''
  const deletion = onDelete === 'NO ACTION' ? '' : ` ON DELETE ${onDelete}${of}`
  return `${constraint(name)}FOREIGN KEY ${listOf(columns)} REFERENCES ${table} ${listOf(references)}${deletion}`
}

export function addForeignKey(table: string, key: ForeignKey): string {
  return `ALTER TABLE ${table} ADD ${foreignKeyOf(key)};`
}

export function createIndex(table: string, columns: readonly string[], nameOf: NameOf): string {
  return `CREATE INDEX ${nameOf(table, columns)} ON ${table} ${listOf(columns)};`
}
