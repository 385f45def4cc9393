import type { Resource } from '#src/resources/kit/define.ts'
import type { Field } from '#src/resources/kit/fields/field.ts'
import { columnOf } from '#src/resources/kit/names.ts'
import type { Finding } from '../finding.ts'
import type { Decisions } from './decisions.ts'
import { fillOf } from './fill.ts'
import type { PresentColumn, PresentTable } from './present.ts'
import { definitionOf, oldProcesses, type Step, spelled, step } from './statements.ts'
import type { Column, Table } from './table.ts'

type Changed = {
  readonly renames: Step[]
  readonly removals: Step[]
  readonly changes: Step[]
  readonly faults: Finding[]
  /** Columns that existing rows have a value in. */
  readonly filled: Set<string>
  /** The table with its columns renamed, without those that are added. */
  readonly after: PresentTable
}

/** What changes the columns of a table into those of its resource. */
export function planColumns(
  resource: Resource,
  wanted: Table,
  before: PresentTable,
  decisions: Decisions,
): Changed {
  const { after, renames } = renamedColumns(resource, before)
  const filled = new Set(after.columns.map(({ name }) => name))
  const changed: Changed = { renames, removals: [], changes: [], faults: [], filled, after }
  const keyOf = new Map(Object.keys(resource.fields).map((key) => [columnOf(key), key]))
  const missing: Column[] = []
  for (const column of wanted.columns) {
    const found = after.columns.find(({ name }) => name === column.name)
    const key = keyOf.get(column.name)
    const of = { resource, table: wanted.name, key, field: resource.fields[key ?? ''] }
    if (found !== undefined) changeColumn(changed, of, column, found, decisions)
    else {
      missing.push(column)
      addColumn(changed, of, column, decisions)
    }
  }
  const others = after.columns.filter(
    ({ name, isGenerated }) => !isGenerated && wanted.columns.every((one) => one.name !== name),
  )
  for (const other of others) removeColumn(changed, resource, other, missing, decisions)
  return changed
}

function renamedColumns({ plural, fields }: Resource, before: PresentTable) {
  const names = new Map<string, string>()
  for (const [key, { renamedFrom }] of Object.entries(fields)) {
    const has = (name: string) => before.columns.some((one) => one.name === name)
    if (renamedFrom === undefined || has(columnOf(key)) || !has(columnOf(renamedFrom))) continue
    names.set(columnOf(renamedFrom), columnOf(key))
  }
  const now = (name: string) => names.get(name) ?? name
  const all = (columns: readonly string[]) => columns.map(now)
  const after: PresentTable = {
    ...before,
    name: plural,
    columns: before.columns.map((one) => ({ ...one, name: now(one.name) })),
    uniqueKeys: before.uniqueKeys.map((one) => ({ ...one, columns: all(one.columns) })),
    indexes: before.indexes.map(all),
    foreignKeys: before.foreignKeys.map((one) => ({ ...one, columns: all(one.columns) })),
  }
  const renames = [...names].map(([from, to]) =>
    step(
      `ALTER TABLE ${plural} RENAME COLUMN ${from} TO ${to};`,
      `Keeps every value. ${oldProcesses}`,
    ),
  )
  return { after, renames }
}

type Of = {
  readonly resource: Resource
  readonly table: string
  /** Null for a column that the scope alone needs. */
  readonly key: string | undefined
  readonly field: Field | undefined
}

function addColumn(changed: Changed, of: Of, column: Column, { fills }: Decisions): void {
  const { table, resource, key, field } = of
  const add = `ALTER TABLE ${table} ADD COLUMN ${definitionOf(column)}`
  if (key === undefined || field === undefined) {
    changed.faults.push({
      problem: `The table ${table} has no column ${column.name}, which the scope ${resource.scope} of ${resource.name} needs.`,
      remedy:
        'Rows cannot change their scope. Declare a new resource, and copy them in a migration of your own.',
    })
    return
  }
  if (!column.notNull || add.includes(' DEFAULT ')) {
    changed.changes.push(step(`${add};`))
    return
  }
  const name = `${resource.name}.${key}`
  const fill = readFill(changed, name, field, fills)
  if (fill === null) return
  if (fill === undefined) {
    changed.faults.push({
      problem: `The field ${name} is new and not optional, and existing rows have no value for it.`,
      remedy: `Give them one with --fill ${name}=VALUE, or declare it optional(…).${renameHint(changed, of, column)}`,
    })
    return
  }
  changed.filled.add(column.name)
  changed.changes.push(
    step(
      `${add} DEFAULT ${fill};\nALTER TABLE ${table} ALTER COLUMN ${column.name} DROP DEFAULT;`,
      `Existing rows get ${fill}. ${countWarning}`,
    ),
  )
}

const countWarning =
  'What tenants store is counted when it is written: run gatehouse usage check --repair afterwards.'

function renameHint({ after }: Changed, { resource }: Of, { type }: Column): string {
  const declared = new Set(Object.keys(resource.fields).map(columnOf))
  const other = after.columns.find(
    (one) => !declared.has(one.name) && one.type === type && !one.isFilled,
  )
  if (other === undefined || other.name.endsWith('_id')) return ''
  return ` If it is ${keyOf(other.name)} under a new name, say renamed(…, '${keyOf(other.name)}').`
}

function readFill(changed: Changed, name: string, field: Field, fills: Decisions['fills']) {
  const text = fills.get(name)
  if (text === undefined) return undefined
  const fill = fillOf(field, text)
  if (fill === null) {
    changed.faults.push({
      problem: `--fill ${name}=${text} is not a value that the field accepts.`,
      remedy: 'Give a text as it is and anything else as JSON.',
    })
  }
  return fill
}

function changeColumn(
  changed: Changed,
  { resource, table, key, field }: Of,
  wanted: Column,
  found: PresentColumn,
  { fills }: Decisions,
): void {
  const { name, notNull } = wanted
  const type = spelled(wanted.type)
  const alter = `ALTER TABLE ${table} ALTER COLUMN ${name}`
  const field_ = `${resource.name}.${key}`
  if (found.type !== wanted.type) {
    changed.changes.push(
      step(
        `${alter} TYPE ${type} USING ${name}::${type};`,
        `Rewrites ${table}: its reads and writes wait until then. ${oldProcesses}`,
        ...(wanted.type === 'text'
          ? []
          : [
              `A value that is no ${type} is rounded, or makes it fail, and then nothing is changed.`,
            ]),
      ),
    )
  }
  if (found.notNull && !notNull) changed.changes.push(step(`${alter} DROP NOT NULL;`))
  if (found.notNull || !notNull) return
  const fill = field === undefined ? undefined : readFill(changed, field_, field, fills)
  if (fill === null) return
  // ALTER TYPE rewrites every row, whatever row-level security shows of them.
  const filling =
    fill === undefined ? '' : `${alter} TYPE ${type} USING coalesce(${name}, ${fill}::${type});\n`
  changed.changes.push(
    step(
      `${filling}${alter} SET NOT NULL;`,
      ...(fill === undefined
        ? [
            `Reads ${table}, whose reads and writes wait, and fails, changing nothing, if a row has no ${name}. Give those rows a value with --fill ${field_}=VALUE.`,
          ]
        : [`Rewrites ${table}: its reads and writes wait until then. ${countWarning}`]),
    ),
  )
}

/** A column that no field names. It is the developer's own, or its field was removed or renamed. */
function removeColumn(
  changed: Changed,
  resource: Resource,
  { name, type, notNull, isFilled }: PresentColumn,
  missing: readonly Column[],
  { drops, keeps }: Decisions,
): void {
  const { plural } = resource
  const column = `${plural}.${name}`
  if (drops.has(column)) {
    changed.removals.push(
      step(
        `ALTER TABLE ${plural} DROP COLUMN ${name};`,
        `Deletes the values of ${column}.`,
        oldProcesses,
      ),
    )
    return
  }
  const isInTheWay = notNull && !isFilled
  if (keeps.has(column)) {
    if (isInTheWay)
      changed.changes.push(step(`ALTER TABLE ${plural} ALTER COLUMN ${name} DROP NOT NULL;`))
    return
  }
  const successor = missing.find((one) => one.type === type && !isFilled)
  if (!isInTheWay && successor === undefined) return
  const field = `${resource.name}.${keyOf(name)}`
  const ways = `--drop ${column} deletes its values, and --keep ${column} keeps them.`
  changed.faults.push({
    problem: `The table has the column ${column}, and there is no field ${field}.`,
    remedy: `${successor === undefined ? '' : `If ${keyOf(successor.name)} is its new name, declare ${keyOf(successor.name)}: renamed(…, '${keyOf(name)}'). Otherwise `}${ways}`,
  })
}

/** The field of a column: `authorId` of `author_id`. */
function keyOf(column: string): string {
  return column.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase())
}
