import type pg from 'pg'
import { columnOf, type Resource } from '#src/resources/kit/define.ts'
import { insertedKeysOf } from '#src/resources/kit/derived.ts'
import { columns as columnTypes } from '#src/resources/kit/fields/columns.ts'
import type { OnDelete } from '#src/resources/kit/fields/keys/reference.ts'
import { foreignKeyOf, type Link, linksOf, uniqueKeysOf } from '#src/resources/kit/links.ts'
import { resources as declared } from '#src/resources/running-app.ts'
import type { Finding } from './finding.ts'

type Column = {
  table: string
  name: string
  type: string
  notNull: boolean
  /** A value that no INSERT has to give. */
  filled: boolean
}

const remedy =
  'Run `gatehouse migrate dev` in the folder of the app, which writes the migration (docs/migrations.md), then `gatehouse migrate` with DATABASE_OWNER_URL.'

/**
 * Compares the declared resources with their tables, which migrations create.
 */
export async function verifyResources(
  client: pg.ClientBase,
  resources: readonly Resource[] = declared,
): Promise<Finding[]> {
  const { rows } = await client.query<Column>(
    `SELECT c.relname AS table, a.attname AS name, format_type(a.atttypid, CASE WHEN a.atttypid = 'numeric'::regtype THEN a.atttypmod END) AS type,
       a.attnotnull AS "notNull",
       a.atthasdef OR a.attidentity <> '' OR a.attgenerated <> '' AS filled
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname = ANY ($1)`,
    [resources.map(({ plural }) => plural)],
  )
  const keys = await foreignKeysOf(client, resources)
  const links = linksOf(resources)
  const uniqueNames = await uniqueNamesOf(client)
  return resources.flatMap((one) => {
    const columns = rows.filter(({ table }) => table === one.plural)
    const own = links.filter(({ from }) => from === one)
    const repeated = columns.length === 0 ? [] : uniqueProblemsOf(one, uniqueNames)
    const problems = columns.length === 0 ? [] : keyProblemsOf(own, keys)
    return [...problemsOf(one, columns), ...problems, ...repeated].map((problem) => ({
      object: one.plural,
      problem,
      remedy,
    }))
  })
}

/** The unique indexes of whole tables, as `name (columns)`. */
async function uniqueNamesOf(client: pg.ClientBase): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ key: string }>(
    `SELECT format('%s (%s)', c.relname, string_agg(a.attname, ', ' ORDER BY k.place)) AS key
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     CROSS JOIN LATERAL unnest(i.indkey::smallint[]) WITH ORDINALITY AS k (number, place)
     JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number
     WHERE i.indisunique AND i.indisvalid AND i.indpred IS NULL AND c.relnamespace = 'public'::regnamespace
     GROUP BY i.indexrelid, c.relname`,
  )
  return new Set(rows.map(({ key }) => key))
}

function uniqueProblemsOf(resource: Resource, names: ReadonlySet<string>): string[] {
  const keys = uniqueKeysOf(resource).map(({ name, columns }) => [name, columns.join(', ')])
  return keys
    .filter(([name, columns]) => !names.has(`${name} (${columns})`))
    .map(
      ([name, columns]) =>
        `The table ${resource.plural} needs for the unique key of ${resource.name}: CONSTRAINT ${name} UNIQUE (${columns}).`,
    )
}

type Key = {
  name: string
  table: string
  target: string
  columns: string[]
  targetColumns: string[]
  onDelete: string
  /** Columns that a deletion sets to null; null for all. */
  cleared: string[] | null
}

async function foreignKeysOf(
  client: pg.ClientBase,
  resources: readonly Resource[],
): Promise<Key[]> {
  const names = (relation: string, numbers: string) => `
    ARRAY(SELECT a.attname::text FROM unnest(${numbers}) WITH ORDINALITY AS k (number, place)
      JOIN pg_attribute a ON a.attrelid = ${relation} AND a.attnum = k.number ORDER BY k.place)`
  const { rows } = await client.query<Key>(
    `SELECT c.conname AS name, c.conrelid::regclass::text AS table, c.confrelid::regclass::text AS target,
       ${names('c.conrelid', 'c.conkey')} AS columns, ${names('c.confrelid', 'c.confkey')} AS "targetColumns",
       c.confdeltype AS "onDelete",
       CASE WHEN c.confdelsetcols IS NOT NULL THEN ${names('c.conrelid', 'c.confdelsetcols')} END AS cleared
     FROM pg_constraint c WHERE c.contype = 'f' AND c.conrelid::regclass::text = ANY ($1)`,
    [resources.map(({ plural }) => plural)],
  )
  return rows
}

/** A reference needs its key with the tenant in it: without one, a row could refer to that of another tenant. */
function keyProblemsOf(links: readonly Link[], keys: readonly Key[]): string[] {
  return links.flatMap(({ from, key, to, onDelete, foreignKey }) => {
    const { name, columns, targetColumns } = foreignKey
    const isFound = keys.some(
      (one) =>
        one.table === from.plural &&
        one.name === name &&
        one.target === to.plural &&
        String(one.columns) === String(columns) &&
        String(one.targetColumns) === String(targetColumns) &&
        deletions[onDelete].includes(one.onDelete) &&
        (onDelete !== 'clear' || String(one.cleared) === columnOf(key)),
    )
    const wanted = `CONSTRAINT ${name} ${foreignKeyOf(foreignKey, to.plural, onDelete, key)}`
    return isFound
      ? []
      : [`The table ${from.plural} needs for the field ${from.name}.${key}: ${wanted}.`]
  })
}

function problemsOf(resource: Resource, columns: readonly Column[]): string[] {
  const { name, plural, fields, actions } = resource
  if (columns.length === 0) return [`The resource ${name} has no table ${plural}.`]
  const found = new Map(columns.map((column) => [column.name, column]))
  const ofFields = Object.entries(fields).flatMap(
    ([key, { column: type, columnType, isNullable }]) => {
      const column = found.get(columnOf(key))
      const [its, field] = [`The column ${plural}.${columnOf(key)}`, `the field ${name}.${key}`]
      if (column === undefined) return [`${its} of ${field} is missing.`]
      const wanted = columnType ?? columnTypes[type].spelled
      if (column.type !== wanted) return [`${its} has the type ${column.type}, ${field} ${wanted}.`]
      if (column.notNull && isNullable) return [`${its} is NOT NULL, but ${field} is optional.`]
      if (!column.notNull && !isNullable)
        return [`${its} can be NULL, but ${field} is not optional.`]
      return []
    },
  )
  // An optional field of a NOT NULL column is a fault of its own.
  const optional = Object.keys(fields).filter((key) => fields[key]?.isNullable)
  const created = [...insertedKeysOf(resource), ...optional].map(columnOf)
  const isGiven = (column: string) =>
    scopeColumns[resource.scope].some((one) => one === column) || created.includes(column)
  const ofScope = scopeColumns[resource.scope].filter((one) => !found.has(one))
  const unfilled = columns.filter((one) => one.notNull && !one.filled && !isGiven(one.name))
  return [
    ...ofFields,
    ...ofScope.map(
      (one) => `The column ${plural}.${one} of the scope ${resource.scope} is missing.`,
    ),
    ...unfilled
      .filter(() => actions.create !== undefined)
      .map(
        (one) =>
          `The column ${plural}.${one.name} is NOT NULL, but nothing that creates a ${name} fills it.`,
      ),
  ]
}

/** Columns beside the fields that the statements of a scope name. */
const scopeColumns = {
  owner: ['tenant_id', 'user_id'],
  tenant: ['tenant_id'],
  chain: ['tenant_id', 'folder_id', 'team_id'],
} as const satisfies Record<Resource['scope'], readonly string[]>

/** As pg_constraint has them. */
const deletions: Readonly<Record<OnDelete, readonly string[]>> = {
  restrict: ['a', 'r'],
  cascade: ['c'],
  clear: ['n'],
}
