import type { Resource } from '#src/resources/kit/define.ts'
import { wordsKeeperOf, wordsTableOf } from '#src/resources/kit/names.ts'
import type { Finding } from '../finding.ts'
import { wordKey, wordsTable } from './declared.ts'
import type { PresentTable } from './present.ts'
import { createTable, type NameOf, oldProcesses, type Step, step } from './statements.ts'
import { type Column, listOf } from './table.ts'

/** Renames the table of words with that of its resource, whose earlier name is `from`. */
export function renameWords(
  resource: Resource,
  from: string,
  found: Map<string, PresentTable>,
): Step[] {
  const [before, now] = [wordsTableOf({ plural: from }), wordsTableOf(resource)]
  const table = found.get(before)
  if (table === undefined || found.has(now) || resource.search.length === 0) return []
  found.delete(before)
  found.set(now, { ...table, name: now })
  return [step(`ALTER TABLE ${before} RENAME TO ${now};`, oldProcesses)]
}

/**
 * Makes the table of words that a search needs. `gatehouse migrate` fills it when it makes the triggers, so that no row
 * is written in between.
 */
export function planWords(
  resource: Resource,
  found: ReadonlyMap<string, PresentTable>,
  nameOf: NameOf,
): { steps: Step[]; faults: Finding[] } {
  const wanted = wordsTable(resource)
  if (wanted === null) return { steps: [], faults: [] }
  const { plural } = resource
  const present = found.get(wanted.name)
  if (present === undefined) {
    const [creation, ...rest] = createTable(wanted, nameOf, definitionOfWord)
    // Without its trigger, migrate makes it again and fills the new table.
    const drop = `DROP TRIGGER IF EXISTS ${wordsKeeperOf(resource)} ON ${plural};`
    const isNew = !found.has(plural)
    const sql = creation?.sql ?? ''
    return {
      steps: [isNew ? step(sql) : step(`${sql}\n${drop}`, fillWarning(plural)), ...rest],
      faults: [],
    }
  }
  const names = present.columns.map(({ name }) => name).toSorted()
  const isSame = `${names}` === `${wanted.columns.map(({ name }) => name).toSorted()}`
  if (isSame && `${present.primaryKey}` === `${wordKey}`) return { steps: [], faults: [] }
  const columns = listOf(wanted.columns.map(({ name }) => name))
  return {
    steps: [],
    faults: [
      {
        problem: `The table ${wanted.name} is not that of the words of ${plural}, which has ${columns} and the primary key ${listOf(wanted.primaryKey)}.`,
        remedy: 'Rename it in a migration of your own.',
      },
    ],
  }
}

/** Whether a table has the words of one of these tables, which are dropped with their rows. */
export function isWordsOf(
  { name, primaryKey }: PresentTable,
  tables: readonly PresentTable[],
): boolean {
  const isOfOne = tables.some((one) => wordsTableOf({ plural: one.name }) === name)
  return isOfOne && `${primaryKey}` === `${wordKey}`
}

function definitionOfWord({ name, type }: Column): string {
  return `${name} ${type}${name === 'word' ? ' COLLATE "C"' : ''} NOT NULL`
}

function fillWarning(table: string): string {
  return `After the migration, gatehouse migrate writes the words of every row of ${table}, whose reads and writes wait until then (docs/fields.md).`
}
