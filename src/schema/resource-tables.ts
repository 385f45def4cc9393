import type pg from 'pg'
import { columnOf, type Resource } from '#src/resources/kit/define.ts'
import { insertedKeysOf } from '#src/resources/kit/derived.ts'
import { columns as columnTypes } from '#src/resources/kit/fields/columns.ts'
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
  return resources.flatMap((one) => {
    const columns = rows.filter(({ table }) => table === one.plural)
    return problemsOf(one, columns).map((problem) => ({
      object: one.plural,
      problem,
      remedy,
    }))
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
