import pg from 'pg'
import { poolOptions } from '#src/db/pool-options.ts'
import { isDatabaseUnavailable } from '#src/http/problems.ts'
import type { Finding } from './finding.ts'
import { compareHistory, readMigrations } from './history.ts'
import { tablePrivileges } from './tables.ts'
import { verifyIsolation } from './verify-isolation.ts'
import { verifyRoles } from './verify-roles.ts'
import { verifyTables } from './verify-tables.ts'

const acquireMs = 5_000 // no request waits for this, and a busy machine is not a problem

const migrateRemedy = 'Run `gatehouse migrate` with DATABASE_OWNER_URL.'

/**
 * Verifies that the role at `url` cannot bypass row-level security, that it is forced on every table
 * outside the lists in tables.ts, and that no migration is missing. Migrations of a newer release
 * are accepted. For the application role, two temporary tenants then try to access each other's
 * rows (verify-isolation.ts).
 * @param duty the purpose of the role
 * @returns every finding; `serve` listens only if there is none
 * @throws if the database is unavailable, so that nothing could be verified
 */
export async function verifyDatabase(url: string, duty: 'web' | 'worker'): Promise<Finding[]> {
  const client = new pg.Client(poolOptions(url, 1, { acquireMs }))
  client.on('error', () => {})
  await client.connect()
  try {
    return await findFindings(client, duty)
  } catch (error) {
    if (isDatabaseUnavailable(error) || isRetryable(error)) throw error
    const reason = error instanceof Error ? error.message : String(error)
    return [{ problem: `The database could not be verified: ${reason}.`, remedy: migrateRemedy }]
  } finally {
    await client.end()
  }
}

async function findFindings(client: pg.Client, duty: 'web' | 'worker'): Promise<Finding[]> {
  if (!(await mayReadHistory(client))) {
    return [{ problem: 'The database has no schema for this role yet.', remedy: migrateRemedy }]
  }
  const { ahead, behind } = await compareHistory(client, await readMigrations())
  if (behind.length > 0) {
    const problem = `The database is behind by ${behind.length} migration(s): ${behind.join(', ')}.`
    return [{ problem, remedy: migrateRemedy }]
  }
  // Tables that a newer release has added are verified by that release.
  const concerns = (table: string) => ahead.length === 0 || Object.hasOwn(tablePrivileges, table)
  const findings = [...(await verifyRoles(client)), ...(await verifyTables(client, concerns))]
  return findings.length === 0 && duty === 'web' ? verifyIsolation(client, concerns) : findings
}

async function mayReadHistory(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ readable: boolean | null }>(
    `SELECT has_table_privilege(to_regclass('_prisma_migrations'), 'SELECT') AS readable`,
  )
  return rows[0]?.readable === true
}

/** SQLSTATE class 40, a conflict with another transaction, says nothing about isolation. */
function isRetryable(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code?.startsWith('40') === true
}
