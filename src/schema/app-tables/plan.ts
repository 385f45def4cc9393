import type { Resource } from '#src/resources/kit/define.ts'
import { fillRemedyOf, unfilledKeysOf } from '#src/resources/kit/derived.ts'
import { inOrderOfNeed, scopedColumnsOf } from '#src/resources/kit/links.ts'
import { columnOf, tableNamesOf, wordsTableOf } from '#src/resources/kit/names.ts'
import type { Finding } from '../finding.ts'
import { planColumns } from './columns.ts'
import { type Decisions, unusedOf } from './decisions.ts'
import { declaredTable } from './declared.ts'
import { planKeys, planUniqueKeys } from './keys.ts'
import type { PresentTable } from './present.ts'
import { addForeignKey, createTable, oldProcesses, type Step, step } from './statements.ts'
import { indexNameOf, listOf } from './table.ts'
import { isWordsOf, planWords, renameWords } from './words.ts'

export type Plan = {
  readonly steps: readonly Step[]
  /** What is refused, with the remedy. If there is any, the steps are not complete. */
  readonly faults: readonly Finding[]
  /** What is there beside the declarations and stays. */
  readonly notes: readonly string[]
}

/**
 * What changes the tables of a database into those that the resources declare. What the database has beside
 * them, such as another index or a check, stays.
 * @param present every table of the database
 * @param core the names of those that are not the app's
 */
export function planTables(
  resources: readonly Resource[],
  present: ReadonlyMap<string, PresentTable>,
  core: ReadonlySet<string>,
  decisions: Decisions,
): Plan {
  const faults: Finding[] = []
  const renames: Step[] = []
  const removals: Step[] = []
  const creations: Step[] = []
  const changes: Step[] = []
  const uniqueKeys: Step[] = []
  const keys: Step[] = []
  const found = new Map(present)
  const usedNames = new Set([...present.values()].flatMap(({ indexNames }) => indexNames))
  const nameOf = (table: string, columns: readonly string[], suffix?: string) =>
    freeName(indexNameOf(table, columns, suffix), usedNames)

  for (const resource of resources) {
    const { plural, renamedFrom } = resource
    const before = found.get(renamedFrom ?? '')
    if (before === undefined || found.has(plural) || core.has(before.name)) continue
    renames.push(step(`ALTER TABLE ${before.name} RENAME TO ${plural};`, renameWarning))
    found.delete(before.name)
    found.set(plural, { ...before, name: plural })
    renames.push(...renameWords(resource, before.name, found))
  }
  for (const resource of inOrderOfNeed(resources)) {
    const wanted = declaredTable(resource, resources)
    const table = found.get(resource.plural)
    faults.push(...unfilledFaultsOf(resource, table))
    const words = planWords(resource, found, nameOf)
    faults.push(...words.faults)
    keys.push(...words.steps)
    if (table === undefined) {
      const inline = wanted.foreignKeys.filter((key) => found.has(key.table))
      creations.push(...createTable({ ...wanted, foreignKeys: inline }, nameOf))
      const later = wanted.foreignKeys.filter((key) => !inline.includes(key))
      keys.push(...later.map((key) => step(addForeignKey(wanted.name, key))))
      continue
    }
    if (`${table.primaryKey}` !== `${wanted.primaryKey}`) {
      faults.push({
        problem: `The table ${table.name} has the primary key ${listOf(table.primaryKey)} instead of ${listOf(wanted.primaryKey)}.`,
        remedy: 'Change it in a migration of your own.',
      })
      continue
    }
    const columns = planColumns(resource, wanted, table, decisions)
    faults.push(...columns.faults)
    renames.push(...columns.renames)
    removals.push(...columns.removals)
    changes.push(...columns.changes, ...protect(table))
    uniqueKeys.push(...planUniqueKeys(wanted, columns.after, scopedColumnsOf(resource), nameOf))
    keys.push(...planKeys(wanted, columns.after, found, columns.filled, nameOf))
  }
  const names = new Set(tableNamesOf(resources))
  const others = [...found.values()].filter(({ name }) => !core.has(name) && !names.has(name))
  const isDropped = ({ name }: PresentTable) => decisions.drops.has(name)
  const dropped = others.filter((one) => isDropped(one) || isWordsOf(one, others.filter(isDropped)))
  removals.push(
    ...dropped.map(({ name }) =>
      step(`DROP TABLE ${name};`, `Deletes every row of ${name}.`, oldProcesses),
    ),
  )
  faults.push(...unusedOf(resources, present, core, decisions))
  return {
    // A foreign key needs the column that it is of and the unique key that it leads to.
    steps: [...renames, ...removals, ...changes, ...uniqueKeys, ...creations, ...keys],
    faults,
    notes: others
      .filter((table) => !dropped.includes(table))
      .map(({ name }) =>
        resources.some((one) => wordsTableOf(one) === name)
          ? `The table ${name} has the words of a search that is not declared any more, and they stay when their rows are deleted: drop it with --drop ${name}.`
          : `The table ${name} belongs to no resource. If it was one, drop it with --drop ${name}, or rename it with renamedFrom: '${name}' in its declaration.`,
      ),
  }
}

/** A table in which no row could be created is not made. */
function unfilledFaultsOf(resource: Resource, table: PresentTable | undefined): Finding[] {
  const filled = new Set(table?.columns.flatMap(({ name, isFilled }) => (isFilled ? [name] : [])))
  return unfilledKeysOf(resource)
    .filter((key) => {
      const { renamedFrom = key } = resource.fields[key] ?? {}
      return !filled.has(columnOf(key)) && !filled.has(columnOf(renamedFrom))
    })
    .map((key) => ({
      problem: `The field ${resource.name}.${key} is required, and nothing that creates a ${resource.name} fills it.`,
      remedy: fillRemedyOf(resource, key),
    }))
}

const renameWarning = `Keeps every row. ${oldProcesses}`

function freeName(name: string, used: Set<string>): string {
  let free = name
  for (let number = 1; used.has(free); number++) free = `${name}${number}`
  used.add(free)
  return free
}

function protect({ name, isUnderRls, isForced }: PresentTable): Step[] {
  if (isUnderRls && isForced) return []
  return [step(`ALTER TABLE ${name} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;`)]
}
