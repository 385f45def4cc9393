import { ConfigError } from '#src/config/config.ts'
import { type Environment, readDatabaseUrl } from '#src/config/parse.ts'
import { unhurried } from '#src/db/connections/pool-options.ts'
import { openSystemDatabase, type Queryable, type SystemDatabase } from '#src/db/system-database.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { withDatabaseOwner, withEnvironment } from './environment.ts'

/** One connection for a command. */
export function openCommandDatabase(url: string): SystemDatabase {
  return openSystemDatabase(url, 1, { limits: unhurried })
}

/**
 * Runs a short command with one connection of the worker's role, which alone may call the functions of
 * the command line. DATABASE_URL may name the same role.
 */
export async function withWorkerDatabase<T>(
  env: Environment,
  work: (systemDb: SystemDatabase, env: Environment) => Promise<T>,
): Promise<T> {
  return withEnvironment(env, async (whole) => {
    const systemDb = openCommandDatabase(readWorkerUrl(whole))
    return work(systemDb, whole).finally(() => systemDb.close())
  })
}

/** Runs a short command as the owner of the database, for what no role of a running process may do. */
export async function withOwnerDatabase<T>(
  env: Environment,
  work: (systemDb: SystemDatabase) => Promise<T>,
): Promise<T> {
  return withDatabaseOwner(env, async (whole) => {
    const systemDb = openCommandDatabase(readUrl(whole, 'DATABASE_OWNER_URL'))
    return requireOwner(systemDb)
      .then(() => work(systemDb))
      .finally(() => systemDb.close())
  })
}

/**
 * Requires the owner of the tables. To any other role, row-level security shows empty tables: the
 * command would say that nothing exists.
 * @throws OperatorError
 */
export async function requireOwner({ sql }: Queryable): Promise<void> {
  const [other] = await sql<{ role: string }>`
    SELECT current_user AS role FROM pg_class
    WHERE oid = to_regclass('tenants') AND NOT pg_has_role(relowner, 'MEMBER')`
  if (other === undefined) return
  throw new OperatorError(
    `The role ${other.role} does not own the tables.`,
    'DATABASE_OWNER_URL names the role that ran gatehouse migrate.',
  )
}

/** DATABASE_WORKER_URL, else DATABASE_URL. @throws ConfigError if neither is valid */
export function readWorkerUrl(env: Environment): string {
  return readUrl(env, env.DATABASE_WORKER_URL ? 'DATABASE_WORKER_URL' : 'DATABASE_URL')
}

/** @throws ConfigError if the URL is missing or wrong */
export function readUrl(env: Environment, setting: string): string {
  const faults: string[] = []
  const url = readDatabaseUrl(setting, env[setting] || undefined, faults)
  if (faults.length > 0) throw new ConfigError(faults)
  return url
}
