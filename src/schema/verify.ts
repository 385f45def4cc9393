import pg from 'pg'
import { poolOptions } from '#src/db/pool-options.ts'
import { isDatabaseUnavailable } from '#src/http/problems.ts'
import type { Finding } from './finding.ts'
import { compareHistory, readMigrations } from './history.ts'
import { tablePrivileges } from './tables.ts'
import { verifyIsolation } from './verify-isolation.ts'
import { verifyRoles } from './verify-roles.ts'
import { verifyTables } from './verify-tables.ts'

const acquireMs = 5_000 // no request waits for it, and a busy machine is no flaw

const migrateRemedy = 'Run `gatehouse migrate` with DATABASE_OWNER_URL.'

/**
 * Proves that the role at `url` cannot get around row-level security, that every table outside the
 * named lists is under it, and that the schema is the one this program was built for, or one that a
 * newer release has added to. For the
 * application role two canary tenants then try the lock itself (src/schema/verify-isolation.ts).
 * @param duty what the role is for
 * @returns every flaw found; none means `serve` may listen
 * @throws when the database cannot be asked, which proves nothing either way
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
    return [{ problem: `The proof could not be carried out: ${reason}.`, remedy: migrateRemedy }]
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
  // What a newer release has added is not reached from here, and is for that one to prove.
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

/** Lost a race against another transaction (class 40), which says nothing of the lock. */
function isRetryable(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code?.startsWith('40') === true
}
