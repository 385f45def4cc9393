import { findDatabaseMutants } from './database-mutants.ts'
import type { Mutant } from './mutant.ts'
import { findSourceMutants } from './source-mutants.ts'

/**
 * Every mutant of the tree at `root` and of a migrated database.
 * @param url of the database, as a superuser
 * @throws if something that the run looks for has vanished
 */
export async function findMutants(root: string, url: string): Promise<Mutant[]> {
  const all = [await findSourceMutants(root), await findDatabaseMutants(url)]
  const vanished = all.flatMap((one) => one.vanished)
  if (vanished.length > 0) throw new Error(`Nothing is found any more:\n${vanished.join('\n')}`)
  return all.flatMap(({ mutants }) => mutants)
}
