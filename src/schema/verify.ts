import pg from 'pg'
import { isDatabaseUnavailable } from '#src/db/errors.ts'
import { poolOptions } from '#src/db/pool-options.ts'
import { describeKind, isDistributed } from './citus/cluster.ts'
import { findUnfinished, verifyCluster } from './citus/verify.ts'
import type { Finding } from './finding.ts'
import { compareHistory, readMigrations } from './history.ts'
import { tablePrivileges } from './tables.ts'
import { verifyFunctions } from './verify-functions.ts'
import { verifyIsolation, verifyWithoutScope } from './verify-isolation.ts'
import { verifyRoles } from './verify-roles.ts'
import { verifyTables } from './verify-tables.ts'

type Depth = 'catalogue' | 'isolation'

const acquireMs = 5_000 // no request waits for this, and a slow connection is not a finding

const migrateRemedy = 'Run `gatehouse migrate` with DATABASE_OWNER_URL.'

/**
 * Verifies that the role at `url` cannot bypass row-level security, that every table is under it or
 * listed as an exception (src/schema/tables.ts), that the functions that set the scope are as the
 * migrations make them, and that the schema is the one this program was built for or that of a newer
 * release. For the web role row-level security is then tried (verify-isolation.ts).
 * @param duty what the role is for
 * @param depth `catalogue` writes nothing; `isolation` also creates two tenants that try to reach each
 *   other's rows, and rolls them back
 * @returns all findings; `serve` starts only if there are none
 * @throws if the database cannot be reached
 */
export async function verifyDatabase(
  url: string,
  duty: 'web' | 'worker',
  depth: Depth = 'isolation',
): Promise<Finding[]> {
  return withClient(url, (client) =>
    findFindings(client, duty, depth).catch((error) => {
      if (isDatabaseUnavailable(error)) throw error
      const reason = error instanceof Error ? error.message : String(error)
      return [{ problem: `The verification failed: ${reason}.`, remedy: migrateRemedy }]
    }),
  )
}

/**
 * One line on what kind of database is at `url`: one PostgreSQL, or a cluster.
 * @throws if the database cannot be reached
 */
export async function describeDatabase(url: string): Promise<string> {
  return withClient(url, describeKind)
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(poolOptions(url, 1, { acquireMs }))
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

async function findFindings(
  client: pg.Client,
  duty: 'web' | 'worker',
  depth: Depth,
): Promise<Finding[]> {
  if (!(await mayReadHistory(client))) {
    return [{ problem: 'The database has no schema for this role yet.', remedy: migrateRemedy }]
  }
  const { ahead, behind } = await compareHistory(client, await readMigrations())
  if (behind.length > 0) {
    const problem = `The database is behind by ${behind.length} migration(s): ${behind.join(', ')}.`
    return [{ problem, remedy: migrateRemedy }]
  }
  const unfinished = await findUnfinished(client)
  if (unfinished.length > 0) return unfinished
  // Tables of a newer release are not used by this one; that release verifies them.
  const concerns = (table: string) => ahead.length === 0 || Object.hasOwn(tablePrivileges, table)
  const roleFlaws = await verifyRoles(client)
  const findings = [
    ...roleFlaws,
    // A role that is too powerful may call everything; the findings already say so.
    ...(roleFlaws.length === 0 ? await verifyFunctions(client, duty) : []),
    ...(await verifyTables(client, concerns)),
  ]
  if (findings.length > 0) return findings
  const distributed = await isDistributed(client)
  if (distributed) findings.push(...(await verifyCluster(client, depth === 'catalogue')))
  if (findings.length > 0 || duty === 'worker') return findings
  // With Citus a role cannot use what functions of the owner have written in the same transaction.
  return depth === 'isolation' && !distributed
    ? verifyIsolation(client, concerns)
    : verifyWithoutScope(client, concerns)
}

async function mayReadHistory(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ readable: boolean | null }>(
    `SELECT has_table_privilege(to_regclass('_prisma_migrations'), 'SELECT') AS readable`,
  )
  return rows[0]?.readable === true
}
