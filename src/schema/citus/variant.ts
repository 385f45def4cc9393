import type pg from 'pg'
import { isDistributed } from './cluster.ts'
import { citusFunctions, grantOnCitus, joinShardRole } from './privileges.ts'
import { divideMigration, openDefiner, readCitusDefinitions } from './script.ts'
import { verifyCluster } from './verify.ts'

const variant = {
  readDefinitions: readCitusDefinitions,
  openDefiner,
  divideMigration,
  /** Functions that the policies call, besides those of every database. */
  functions: citusFunctions,
  grantOnTables: grantOnCitus,
  /** After the grants were committed. */
  joinRole: joinShardRole,
  verify: verifyCluster,
} as const

/** What differs on a database whose tables are distributed; null on one PostgreSQL. */
export async function findVariant(client: pg.ClientBase): Promise<typeof variant | null> {
  return (await isDistributed(client)) ? variant : null
}
