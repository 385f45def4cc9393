import pg from 'pg'
import type { Statement } from '#src/db/connections/one-trip.ts'
import { poolOptions, unhurried } from '#src/db/connections/pool-options.ts'
import type { DatabaseForm } from '#src/db/database.ts'
import { resources } from '#src/resources/running-app.ts'
import { isDistributed } from './cluster.ts'
import { instead } from './reads.ts'

/** The declared resources by their tables. */
const byTable = new Map(resources.map((one) => [one.plural, one]))

/**
 * What the database at `url` wants otherwise than one PostgreSQL; undefined if it is one. On a cluster BEGIN
 * is sent with each read: without it, setting the scope would have to begin a distributed transaction.
 * @throws if the database cannot be reached
 */
export async function findForm(url: string): Promise<DatabaseForm | undefined> {
  const client = new pg.Client(poolOptions(url, 1, unhurried))
  client.on('error', () => {})
  await client.connect()
  try {
    return (await isDistributed(client)) ? { adapt } : undefined
  } finally {
    await client.end()
  }
}

/** The statement that a cluster gets instead; another statement stays as it is. */
export function adapt(statement: Statement): Statement {
  const { row, values = [], onCluster } = statement
  if (onCluster !== undefined) return onCluster()
  if (row === undefined) return statement
  const { does, table, selected } = row
  const resource = byTable.get(table)
  if (resource !== undefined) return instead(resource, statement) ?? statement
  // By the web role itself, because it may have locked the endpoint.
  if (does === 'delete' && table === 'webhook_endpoints') {
    return { text: `SELECT drop_endpoint($1::uuid, $2::uuid) AS ${selected}`, values }
  }
  return statement
}
