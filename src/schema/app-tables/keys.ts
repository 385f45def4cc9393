import type { PresentTable } from './present.ts'
import { addForeignKey, createIndex, type NameOf, type Step, step } from './statements.ts'
import { type ForeignKey, listOf, type Table, type UniqueKey } from './table.ts'

/**
 * Foreign keys and indexes that a table lacks.
 * @param filled columns in which existing rows have a value that nothing has compared with the other table yet
 */
export function planKeys(
  wanted: Table,
  table: PresentTable,
  found: ReadonlyMap<string, PresentTable>,
  filled: ReadonlySet<string>,
  nameOf: NameOf,
): Step[] {
  const { name } = wanted
  const foreignKeys = wanted.foreignKeys.flatMap((key) => {
    const same = table.foreignKeys.filter((one) => isSameReference(one, key))
    const equal = same.filter((one) => isSame(one, key))
    const isNamed = key.name === undefined || equal.some((one) => one.name === key.name)
    if (equal[0] !== undefined) {
      const rename = `ALTER TABLE ${name} RENAME CONSTRAINT ${equal[0].name} TO ${key.name};`
      return isNamed ? [] : [step(rename)]
    }
    const drops = same.map((one) => step(`ALTER TABLE ${name} DROP CONSTRAINT ${one.name};`))
    const isEmpty = key.columns.some((column) => !filled.has(column) && isNew(table, column))
    const add = addForeignKey(name, key)
    return [...drops, isEmpty ? step(add) : comparing(add, [table, found.get(key.table)])]
  })
  const indexes = wanted.indexes
    .filter((one) => !table.indexes.some((index) => one.every((column, n) => column === index[n])))
    .map((one) => step(createIndex(name, one, nameOf), indexWarning(name)))
  return [...foreignKeys, ...indexes]
}

/**
 * What changes the unique keys of a table: the program knows them by their names. A key that has such a name and is
 * not declared any more is dropped, since rows would still be refused by it.
 * @param scoped the columns that each declared key begins with
 */
export function planUniqueKeys(
  wanted: Table,
  table: PresentTable,
  scoped: readonly string[],
  nameOf: NameOf,
): Step[] {
  const { name } = wanted
  const isEqual = (one: UniqueKey, other: UniqueKey) =>
    `${one.columns.toSorted()}` === `${other.columns.toSorted()}`
  const lacking = wanted.uniqueKeys.flatMap((key) => {
    const equal = table.uniqueKeys.filter((one) => isEqual(one, key))
    if (key.name === undefined ? equal.length > 0 : equal.some((one) => one.name === key.name)) {
      return []
    }
    if (equal[0] !== undefined) {
      return [step(`ALTER INDEX ${equal[0].name} RENAME TO ${key.name};`)]
    }
    const index = key.name ?? nameOf(name, key.columns, 'key')
    return [
      step(
        `CREATE UNIQUE INDEX ${index} ON ${name} ${listOf(key.columns)};`,
        `Fails, and changes nothing, if two rows have the same ${key.columns.join(', ')}.`,
        indexWarning(name),
      ),
    ]
  })
  const undeclared = table.uniqueKeys.filter((key) => {
    const keys = key.columns.slice(scoped.length)
    const isDeclared = wanted.uniqueKeys.some((one) => isEqual(one, key))
    return key.name === `${name}_${keys.join('_')}_key` && !isDeclared
  })
  const drops = undeclared.map((key) =>
    step(
      `ALTER TABLE ${name} DROP CONSTRAINT IF EXISTS ${key.name};\nDROP INDEX IF EXISTS ${key.name};`,
      `Two rows can have the same ${key.columns.slice(scoped.length).join(', ')} from then on.`,
    ),
  )
  return [...drops, ...lacking]
}

/** Whether two keys are of the same columns and lead to the same table. */
export function isSameReference(one: ForeignKey, other: ForeignKey): boolean {
  return one.table === other.table && `${one.columns}` === `${other.columns}`
}

/** Whether two such keys do the same when the other row is deleted. */
export function isSame(one: ForeignKey, other: ForeignKey): boolean {
  const isEqual = one.onDelete === other.onDelete && `${one.references}` === `${other.references}`
  return isEqual && `${one.cleared ?? []}` === `${other.cleared ?? []}`
}

function isNew(table: PresentTable, column: string): boolean {
  return !table.columns.some(({ name }) => name === column)
}

/**
 * Adds a foreign key to a table with rows. PostgreSQL compares them as the owner, to whom forced row-level
 * security shows none, so it is not forced meanwhile.
 */
function comparing(add: string, tables: readonly (PresentTable | undefined)[]): Step {
  const forced = [...new Set(tables.flatMap((one) => (one?.isForced ? [one.name] : [])))]
  const each = (force: string) =>
    forced.map((name) => `ALTER TABLE ${name} ${force} ROW LEVEL SECURITY;`)
  return step(
    [...each('NO FORCE'), add, ...each('FORCE')].join('\n'),
    'Reads every row while writes wait, and fails, changing nothing, if a row refers to none.',
  )
}

function indexWarning(table: string): string {
  return `Writes to ${table} wait until the index is built. If the table is large, move the statement into a migration of its own and write CREATE INDEX CONCURRENTLY (docs/upgrades.md).`
}
