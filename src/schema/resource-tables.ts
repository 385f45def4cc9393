import type pg from 'pg'
import type { Resource } from '#src/resources/kit/define.ts'
import { fillRemedyOf, unfilledKeysOf } from '#src/resources/kit/derived.ts'
import { columns as columnTypes } from '#src/resources/kit/fields/columns.ts'
import { type Link, linksOf, uniqueKeysOf } from '#src/resources/kit/links.ts'
import { columnOf } from '#src/resources/kit/names.ts'
import { resources as declared } from '#src/resources/running-app.ts'
import { referenceKey, wordsTable } from './app-tables/declared.ts'
import { isSame, isSameReference } from './app-tables/keys.ts'
import { type PresentTable, readTables } from './app-tables/present.ts'
import { foreignKeyOf } from './app-tables/statements.ts'
import { listOf } from './app-tables/table.ts'
import type { Finding } from './finding.ts'

const remedy =
  'Run `gatehouse migrate dev` in the folder of the app, which writes the migration (docs/migrations.md), then `gatehouse migrate` with DATABASE_OWNER_URL.'

/**
 * Compares the declared resources with their tables, which migrations create.
 */
export async function verifyResources(
  client: pg.ClientBase,
  resources: readonly Resource[] = declared,
): Promise<Finding[]> {
  const tables = await readTables(client)
  const links = linksOf(resources)
  return resources.flatMap((one) => {
    const table = tables.get(one.plural)
    const problems =
      table === undefined
        ? [`The resource ${one.name} has no table ${one.plural}.`]
        : [
            ...columnProblemsOf(one, table),
            ...links
              .filter(({ from }) => from === one)
              .flatMap((link) => keyProblemsOf(link, table)),
            ...uniqueProblemsOf(one, table),
            ...wordProblemsOf(one, tables),
          ]
    return [
      ...problems.map((problem) => ({ object: one.plural, problem, remedy })),
      ...(table === undefined ? [] : unfilledFindingsOf(one, table)),
    ]
  })
}

/** A list is searched by the table of its words. */
function wordProblemsOf(resource: Resource, tables: ReadonlyMap<string, PresentTable>): string[] {
  const wanted = wordsTable(resource)
  if (wanted === null) return []
  const found = tables.get(wanted.name)
  if (found === undefined) {
    return [`The table ${wanted.name} for the search of ${resource.name} is missing.`]
  }
  const isSame = `${found.primaryKey}` === `${wanted.primaryKey}`
  return isSame ? [] : [`The table ${wanted.name} needs PRIMARY KEY ${listOf(wanted.primaryKey)}.`]
}

function uniqueProblemsOf(resource: Resource, table: PresentTable): string[] {
  return uniqueKeysOf(resource)
    .filter(
      ({ name, columns }) =>
        !table.uniqueKeys.some((one) => one.name === name && `${one.columns}` === `${columns}`),
    )
    .map(
      ({ name, columns }) =>
        `The table ${resource.plural} needs for the unique key of ${resource.name}: CONSTRAINT ${name} UNIQUE (${columns.join(', ')}).`,
    )
}

/** A reference needs its key with the tenant in it: without one, a row could refer to that of another tenant. */
function keyProblemsOf(link: Link, table: PresentTable): string[] {
  const { from, key } = link
  const wanted = referenceKey(link)
  const isFound = table.foreignKeys.some((one) => {
    const onDelete = one.onDelete === 'RESTRICT' ? 'NO ACTION' : one.onDelete
    const isWanted = isSameReference(one, wanted) && isSame({ ...one, onDelete }, wanted)
    return one.name === wanted.name && isWanted
  })
  return isFound
    ? []
    : [`The table ${from.plural} needs for the field ${from.name}.${key}: ${foreignKeyOf(wanted)}.`]
}

function columnProblemsOf(resource: Resource, { columns }: PresentTable): string[] {
  const { name, plural, fields } = resource
  const found = new Map(columns.map((column) => [column.name, column]))
  const ofFields = Object.entries(fields).flatMap(
    ([key, { column: type, columnType, isNullable, computes }]) => {
      const column = found.get(columnOf(key))
      const [its, field] = [`The column ${plural}.${columnOf(key)}`, `the field ${name}.${key}`]
      if (column === undefined) return [`${its} of ${field} is missing.`]
      const wanted = columnType ?? columnTypes[type].spelled
      if (column.type !== wanted) return [`${its} has the type ${column.type}, ${field} ${wanted}.`]
      if ((column.computes == null) !== (computes === undefined)) {
        const its = column.computes == null ? 'is written' : 'is computed by the database'
        return [`The column ${plural}.${columnOf(key)} ${its}, the field ${name}.${key} is not.`]
      }
      if (column.notNull && isNullable) return [`${its} is NOT NULL, but ${field} is optional.`]
      if (!column.notNull && !isNullable)
        return [`${its} can be NULL, but ${field} is not optional.`]
      return []
    },
  )
  const ofScope = scopeColumns[resource.scope].filter((one) => !found.has(one))
  return [
    ...ofFields,
    ...ofScope.map(
      (one) => `The column ${plural}.${one} of the scope ${resource.scope} is missing.`,
    ),
  ]
}

/** Columns without which no row can be created, and that nothing fills. */
function unfilledFindingsOf(resource: Resource, { columns }: PresentTable): Finding[] {
  const { name, plural, scope, fields, actions } = resource
  if (actions.create === undefined) return []
  const unfilled = unfilledKeysOf(resource)
  const ofFields = new Map(Object.keys(fields).map((key) => [columnOf(key), key]))
  const ofScope: readonly string[] = scopeColumns[scope]
  return columns.flatMap((one) => {
    const key = ofFields.get(one.name)
    const isGiven = key === undefined ? ofScope.includes(one.name) : !unfilled.includes(key)
    if (!one.notNull || one.isFilled || isGiven) return []
    return [
      {
        object: plural,
        problem: `The column ${plural}.${one.name} is NOT NULL, but nothing that creates a ${name} fills it.`,
        remedy:
          key === undefined
            ? `No field has it. Drop it with \`gatehouse migrate dev --drop ${plural}.${one.name}\`, or give it a default in a migration of your own.`
            : fillRemedyOf(resource, key),
      },
    ]
  })
}

/** Columns beside the fields that the statements of a scope name. */
const scopeColumns = {
  owner: ['tenant_id', 'user_id'],
  tenant: ['tenant_id'],
  chain: ['tenant_id', 'folder_id', 'team_id'],
} as const satisfies Record<Resource['scope'], readonly string[]>
