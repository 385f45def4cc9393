import type { Static } from 'typebox'
import type { Prisma } from '#src/db/generated/client.ts'
import { type Link, linksOf } from '#src/resources/kit/links.ts'
import { resources } from '#src/resources/running-app.ts'
import { type Lists, listsOf } from './lists.ts'
import { expansionsOf, namesOf } from './named.ts'
import { type Reads, readsOf } from './reads.ts'
import { eventJsonOf } from './row-json.ts'
import { type Declared, type Table, tableOf } from './table.ts'
import { type Writes, writesOf } from './writes.ts'

/** The statements of a resource. Each has the owner or tenant in its WHERE; row-level security is the second lock. */
export type Rows<Item> = Pick<Table<Item>, 'columns' | 'toItem'> &
  Reads<Item> &
  Lists<Item> &
  Writes<Item> & {
    /** SQL for what events have of `toItem(row)`, from a row `changed` that has the columns. */
    readonly json: Prisma.Sql
  }

/** Composes the statements of a resource, once. */
export function rowsOf<One extends Declared>(
  resource: One,
  links: readonly Link[] = linksOf(resources),
): Rows<Static<One['shape']>> {
  const table = tableOf<Static<One['shape']>>(resource)
  const own = links.filter(({ from }) => from.name === resource.name)
  const names = namesOf(table, own)
  const expanded = expansionsOf(table, own)
  return {
    columns: table.columns,
    toItem: table.toItem,
    json: eventJsonOf(table.told),
    ...readsOf(table, names, expanded),
    ...listsOf(table, names, expanded),
    ...writesOf(table),
  }
}
