import pg from 'pg'
import { scopeTenantId, scopeUserId } from '#src/access/scope.ts'
import type { Statement } from '#src/db/connections/one-trip.ts'
import { poolOptions, unhurried } from '#src/db/connections/pool-options.ts'
import type { DatabaseForm } from '#src/db/database.ts'
import { isDistributed } from './cluster.ts'

const [tenant, user] = [scopeTenantId.text, scopeUserId.text]

/**
 * By table, the function that finds a row by its id (prisma/citus/functions/reads.sql). In it the tenant is a
 * parameter, so only its node is asked. A row of another table is found by the statement of one PostgreSQL,
 * which asks every node.
 */
const finding: Readonly<Record<string, string>> = {
  posts: `find_post(${tenant}, $1)`,
  invoices: `find_invoice(${tenant}, $1)`,
  orders: `find_order(${tenant}, ${user}, $1)`,
  documents: `find_document(${tenant}, ${user}, $1)`,
}

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
  const { row, values = [] } = statement
  if (row === undefined) return statement
  const { does, table, selected } = row
  const found = finding[table]
  if (does === 'find' && found !== undefined) {
    return { text: `SELECT ${selected} FROM ${found} AS ${table}`, values }
  }
  // In its own tenant an order is locked as on one PostgreSQL.
  if (does === 'lock' && table === 'orders' && values.length === 2) {
    return { text: `SELECT ${selected} FROM lock_order($1, $2)`, values }
  }
  // By a function, because Citus copies what is selected into a table with an identity.
  if (does === 'insert' && table === 'documents') {
    const [title, body, created, , inTenant, folder, , person] = values
    return {
      text: `SELECT ${selected} FROM create_document($1::uuid, $2, $3, $4, $5, $6)`,
      values: [inTenant, person, folder, title, body, created],
    }
  }
  // By the role that may have locked it.
  if (does === 'delete' && table === 'webhook_endpoints') {
    return { text: `SELECT drop_endpoint($1::uuid, $2::uuid) AS ${selected}`, values }
  }
  return statement
}
