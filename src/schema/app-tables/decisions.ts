import type { Resource } from '#src/resources/kit/define.ts'
import { columnOf, tableNamesOf } from '#src/resources/kit/names.ts'
import type { Finding } from '../finding.ts'
import type { PresentTable } from './present.ts'

/** What the developer has decided about existing rows. */
export type Decisions = {
  /** The value of existing rows, by `resource.field`. */
  readonly fills: ReadonlyMap<string, string>
  /** Tables and columns (`table.column`) to drop. */
  readonly drops: ReadonlySet<string>
  /** Columns that stay although no field names them. */
  readonly keeps: ReadonlySet<string>
}

/** Finds decisions that name nothing, or something that is declared: mistakes of the developer. */
export function unusedOf(
  resources: readonly Resource[],
  present: ReadonlyMap<string, PresentTable>,
  core: ReadonlySet<string>,
  { fills, drops, keeps }: Decisions,
): Finding[] {
  const fields = resources.flatMap(({ name, fields }) =>
    Object.keys(fields).map((key) => `${name}.${key}`),
  )
  const tables = [...present.values()].filter(({ name }) => !core.has(name))
  const columns = tables.flatMap(({ name, columns }) => columns.map((one) => `${name}.${one.name}`))
  const declared = new Set([
    ...tableNamesOf(resources),
    ...resources.flatMap(({ plural, fields }) =>
      Object.keys(fields).map((key) => `${plural}.${columnOf(key)}`),
    ),
  ])
  const unknown = (option: string, what: string, remedy: string): Finding => ({
    problem: `${option} ${what} ${remedy.startsWith('Remove') ? 'is declared' : 'names nothing'}.`,
    remedy,
  })
  const ofTables = [...drops].map(
    (one) => ['--drop', one, [...tables.map((t) => t.name), ...columns]] as const,
  )
  const ofColumns = [...keeps].map((one) => ['--keep', one, columns] as const)
  return [
    ...[...fills.keys()]
      .filter((one) => !fields.includes(one))
      .map((one) => unknown('--fill', one, 'Name it as resource.field=value.')),
    ...[...ofTables, ...ofColumns].flatMap(([option, one, known]) => {
      if (declared.has(one)) return [unknown(option, one, 'Remove it from its declaration first.')]
      return known.includes(one)
        ? []
        : [unknown(option, one, 'Name a table, or a column as table.column.')]
    }),
  ]
}
