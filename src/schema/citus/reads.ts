import pg from 'pg'
import { scopeTenantId, scopeUserId } from '#src/access/scope.ts'
import type { Statement } from '#src/db/connections/one-trip.ts'
import type { ReadForm } from '#src/db/connections/packet-pool.ts'
import { poolOptions, unhurried } from '#src/db/connections/pool-options.ts'
import { isDistributed } from './cluster.ts'

const [tenant, user] = [scopeTenantId.text, scopeUserId.text]

/**
 * The ends of statements of src/domain/rows.ts that read one row by its id, and what is sent instead: a function
 * in which the tenant is a parameter (prisma/citus/functions/reads.sql).
 */
export const readsById: readonly (readonly [end: string, instead: string])[] = [
  [`FROM posts WHERE tenant_id = ${tenant} AND id = $1`, `FROM find_post(${tenant}, $1) AS posts`],
  [`FROM invoices WHERE tenant_id = ${tenant} AND id = $1`, `FROM find_invoice(${tenant}, $1)`],
  [`FROM orders WHERE user_id = ${user} AND id = $1`, `FROM find_order(${tenant}, ${user}, $1)`],
  ['FROM orders WHERE user_id = $1 AND id = $2 FOR UPDATE', 'FROM lock_order($1, $2)'],
  [
    `FROM documents WHERE tenant_id = ${tenant} AND id = $1 AND team_id IN ( SELECT m.team_id FROM team_members m WHERE m.tenant_id = ${tenant} AND m.user_id = ${user})`,
    `FROM find_document(${tenant}, ${user}, $1)`,
  ],
]

/**
 * The form of reads on the database at `url`; undefined on one PostgreSQL. On a cluster BEGIN is sent with
 * each read: without it, setting the scope would have to begin a distributed transaction.
 * @throws if the database cannot be reached
 */
export async function findReadForm(url: string): Promise<ReadForm | undefined> {
  const client = new pg.Client(poolOptions(url, 1, unhurried))
  client.on('error', () => {})
  await client.connect()
  try {
    return (await isDistributed(client)) ? { begins: true, adapt: adaptRead } : undefined
  } finally {
    await client.end()
  }
}

/** A document is created by a function: Citus copies what is selected into a table with an identity. */
const newDocument =
  /^INSERT INTO documents \(.*\) SELECT f\.tenant_id, f\.id, f\.team_id,.* RETURNING (.*)$/

/** An endpoint is deleted by the role that may have locked it. */
const deletedEndpoint = /^SELECT delete_endpoint(?=\()/

/** The statement that a cluster gets instead; another statement stays as it is. */
export function adaptRead(statement: Statement): Statement {
  const text = statement.text.split(/\s+/).join(' ').trim()
  if (deletedEndpoint.test(text)) {
    return { ...statement, text: text.replace(deletedEndpoint, 'SELECT drop_endpoint') }
  }
  const [, columns] = newDocument.exec(text) ?? []
  if (columns !== undefined) {
    const [title, body, created, , tenant, folder, , person] = statement.values ?? []
    return {
      text: `SELECT ${columns} FROM create_document($1::uuid, $2, $3, $4, $5, $6)`,
      values: [tenant, person, folder, title, body, created],
    }
  }
  const found = readsById.find(([end]) => text.endsWith(end))
  if (found === undefined) return statement
  const [end, instead] = found
  return { ...statement, text: `${text.slice(0, -end.length)}${instead}` }
}
