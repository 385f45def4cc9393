import pg from 'pg'
import { createQueues } from '#src/jobs.ts'
import { OperatorError } from '#src/operator-error.ts'
import { type Migration, readMigrations } from './migration-files.ts'
import { grantRole, loginOf } from './roles.ts'
import { migrationList, noFilters, openSchemaEngine } from './schema-engine.ts'

/** Any number that nothing else in this database locks; two `migrate` at once take turns. */
const migrateLock = 7_165_230_418

export type MigrateReport = { applied: string[]; createdRoles: string[] }

/**
 * Brings the schema and the queue's schema up and gives the application roles their rights.
 * Running it again changes nothing.
 * @param migrations oldest first; those this program was built with where none are given
 * @throws OperatorError when the owner's connection or rights do not allow it
 */
export async function migrate(
  urls: { ownerUrl: string; url: string; workerUrl: string },
  migrations?: readonly Migration[],
): Promise<MigrateReport> {
  const app = loginOf(urls.url)
  const worker = loginOf(urls.workerUrl)
  refuseOwner([app.name, worker.name], loginOf(urls.ownerUrl).name)
  const owner = await connectOwner(urls.ownerUrl)
  try {
    await owner.query('SELECT pg_advisory_lock($1)', [migrateLock])
    const applied = await applyMigrations(urls.ownerUrl, migrations ?? (await readMigrations()))
    await createQueues(urls.ownerUrl)
    const createdRoles: string[] = []
    await owner.query('BEGIN')
    const one = app.name === worker.name
    if (await grantRole(owner, app, one ? ['web', 'worker'] : ['web'])) createdRoles.push(app.name)
    if (!one && (await grantRole(owner, worker, ['worker']))) createdRoles.push(worker.name)
    await owner.query('COMMIT')
    return { applied, createdRoles }
  } finally {
    await owner.end()
  }
}

/**
 * A migration runs as one transaction, so nothing of a failed one was kept: its mark is cleared
 * and it is tried again.
 */
async function applyMigrations(
  ownerUrl: string,
  migrations: readonly Migration[],
): Promise<string[]> {
  const { engine, close } = await openSchemaEngine(ownerUrl)
  try {
    const migrationsList = migrationList(migrations)
    const history = await engine.diagnoseMigrationHistory({
      migrationsList,
      optInToShadowDatabase: false,
      filters: noFilters,
    })
    for (const migrationName of history.failedMigrationNames) {
      await engine.markMigrationRolledBack({ migrationName })
    }
    const result = await engine.applyMigrations({ migrationsList, filters: noFilters })
    return result.appliedMigrationNames
  } catch (error) {
    throw new OperatorError(
      `A migration failed and was rolled back: ${firstLines(error)}`,
      'Mend the cause and run migrate again.',
    )
  } finally {
    await close()
  }
}

function firstLines(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.split('\n').slice(0, 2).join(': ')
}

async function connectOwner(ownerUrl: string): Promise<pg.Client> {
  const owner = new pg.Client({
    connectionString: ownerUrl,
    connectionTimeoutMillis: 5_000,
    application_name: 'gatehouse migrate',
  })
  try {
    await owner.connect()
    return owner
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new OperatorError(
      `The database cannot be reached as its owner: ${reason}.`,
      'Check DATABASE_OWNER_URL and that PostgreSQL is running.',
    )
  }
}

function refuseOwner(roles: readonly string[], owner: string): void {
  if (!roles.includes(owner)) return
  throw new OperatorError(
    `DATABASE_URL and DATABASE_OWNER_URL both log in as ${owner}.`,
    'Name another role in DATABASE_URL; migrate creates it. The owner of tables must never serve requests.',
  )
}
