import type { Resource } from '#src/resources/kit/define.ts'
import { computedOf } from '#src/resources/kit/fields/computed.ts'
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
  /** Adds computed columns, once those that they read are as they are wanted. */
  readonly computations: Step[]
  readonly faults: Finding[]
  /** Columns that existing rows have a value in. */
  readonly filled: Set<string>
  /** The table with its columns renamed, without those that are added. */
  readonly after: PresentTable
}

export type ChangedColumns = Omit<Changed, 'computations'>

/** What changes the columns of a table into those of its resource. */
export function planColumns(
  resource: Resource,
  wanted: Table,
  before: PresentTable,
  decisions: Decisions,
): ChangedColumns {
  const { after, renames } = renamedColumns(resource, before)
  const filled = new Set(after.columns.map(({ name }) => name))
  const steps = { renames, removals: [], changes: [], computations: [] }
  const changed: Changed = { ...steps, faults: [], filled, after }
  const stale = staleColumns(resource, wanted, after)
  const keyOf = new Map(Object.keys(resource.fields).map((key) => [columnOf(key), key]))
  const missing: Column[] = []
  for (const column of wanted.columns) {
    const found = after.columns.find(({ name }) => name === column.name)
    const key = keyOf.get(column.name)
    const of = { resource, table: wanted.name, key, field: resource.fields[key ?? ''] }
    if (stale.has(column.name)) computeAgain(changed, wanted.name, column)
    else if (found !== undefined) changeColumn(changed, of, column, found, decisions)
    else {
      missing.push(column)
      addColumn(changed, of, column, decisions)
    }
  }
  const others = after.columns.filter(
    ({ name, isGenerated }) =>
      (!isGenerated || decisions.drops.has(`${wanted.name}.${name}`)) &&
      wanted.columns.every((one) => one.name !== name),
  )
  for (const other of others) removeColumn(changed, resource, other, missing, decisions)
  const { computations, changes, ...rest } = changed
  return { ...rest, changes: [...changes, ...computations], after: without(after, stale) }
}

/** Computed columns that are there and differ from their fields, or that read a column whose type changes. */
function staleColumns({ fields }: Resource, wanted: Table, { columns }: PresentTable): Set<string> {
  const reads = new Map(computedOf(fields).map(({ key, reads }) => [columnOf(key), reads]))
  const present = new Map(columns.map((one) => [one.name, one]))
  const hasOtherType = ({ name, type }: Column) => {
    const found = present.get(name)
    return found !== undefined && found.type !== type
  }
  const moving = new Set(wanted.columns.filter(hasOtherType).map(({ name }) => name))
  const stale = wanted.columns.filter(({ name, notNull }) => {
    const found = present.get(name)
    if (found?.computes == null || !reads.has(name)) return false
    const readsMoving = (reads.get(name) ?? []).some((one) => moving.has(columnOf(one)))
    return !found.isAsDeclared || found.notNull !== notNull || moving.has(name) || readsMoving
  })
  return new Set(stale.map(({ name }) => name))
}

/** Drops the column, with its indexes, and adds it again: it has no values that people wrote. */
function computeAgain(changed: Changed, table: string, column: Column): void {
  changed.removals.unshift(step(`ALTER TABLE ${table} DROP COLUMN ${column.name};`, oldProcesses))
  changed.computations.push(computation(table, column))
}

function computation(table: string, column: Column): Step {
  return step(
    `ALTER TABLE ${table} ADD COLUMN ${definitionOf(column)};`,
    `Computes it for every row of ${table}: its reads and writes wait until then. ${countWarning}`,
  )
}

/** The table without the indexes and keys of these columns. */
function without(table: PresentTable, columns: ReadonlySet<string>): PresentTable {
  const isLeft = (all: readonly string[]) => !all.some((one) => columns.has(one))
  return {
    ...table,
    indexes: table.indexes.filter(isLeft),
    uniqueKeys: table.uniqueKeys.filter((key) => isLeft(key.columns)),
  }
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
  if (column.computes !== undefined) {
    changed.computations.push(computation(table, column))
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

/** The values that a field accepts, if they are few enough to be listed. */
function acceptedBy({ written }: Field): string | null {
  const { enum: values }: { enum?: unknown } = Object(written)
  return Array.isArray(values) ? `It accepts ${values.join(', ')}.` : null
}

function readFill(changed: Changed, name: string, field: Field, fills: Decisions['fills']) {
  const text = fills.get(name)
  if (text === undefined) return undefined
  const fill = fillOf(field, text)
  if (fill === null) {
    changed.faults.push({
      problem: `--fill ${name}=${text} is not a value that the field accepts.`,
      remedy: acceptedBy(field) ?? 'Give a text as it is and anything else as JSON.',
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
  if (wanted.computes !== undefined && found.computes == null) {
    changed.faults.push({
      problem: `The column ${table}.${name} has values of its own, and the field ${field_} is computed.`,
      remedy: `Remove the field first, with --drop ${table}.${name}, and declare it in the next migration; or give it another name.`,
    })
    return
  }
  if (wanted.computes === undefined && found.computes != null) {
    const keeps = 'Keeps the values that were computed; from then on they are written.'
    changed.changes.push(step(`${alter} DROP EXPRESSION;`, keeps))
  }
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
export function keyOf(column: string): string {
  return column.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase())
}
