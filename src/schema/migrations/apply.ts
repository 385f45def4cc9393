import type pg from 'pg'
import { isLockTimeout } from '#src/db/errors.ts'
import { OperatorError } from '#src/runtime/operator-error.ts'
import { findVariant } from '../citus/variant.ts'
import { lockRefusal, untilLocked } from '../lock-retry.ts'
import type { Migration } from './applied.ts'
import {
  migrationList,
  noFilters,
  openSchemaEngine,
  type SchemaEngine,
  WholeScripts,
} from './schema-engine.ts'

/**
 * Applies missing migrations, oldest first. Each runs in one transaction, so a failed one has changed
 * nothing: it is marked as rolled back and applied again. A migration that cannot run in a
 * transaction (CREATE INDEX CONCURRENTLY) is a single statement and may have left an invalid index.
 * @returns the names of the applied migrations
 * @throws OperatorError with the reason
 */
export async function applyMigrations(
  ownerUrl: string,
  owner: pg.Client,
  migrations: readonly Migration[],
): Promise<string[]> {
  const schema = await openEngine(ownerUrl, owner)
  try {
    return await apply(schema, owner, migrations)
  } catch (error) {
    throw toProblem(schema.failure(), error, migrations)
  } finally {
    await schema.close()
  }
}

async function openEngine(ownerUrl: string, owner: pg.Client): Promise<SchemaEngine> {
  const variant = await findVariant(owner)
  if (variant === null) return openSchemaEngine(ownerUrl)
  const { divideMigration } = variant
  return openSchemaEngine(ownerUrl, undefined, (pool, note) => {
    return new WholeScripts(pool, note, divideMigration)
  })
}

function toProblem(
  failure: ReturnType<SchemaEngine['failure']>,
  error: unknown,
  migrations: readonly Migration[],
): OperatorError {
  const name = migrations.find(({ sql }) => sql === failure?.sql)?.name
  if (isLockTimeout(failure?.error)) {
    return lockRefusal(`The migration ${name} was rolled back.`)
  }
  const text = failure?.error.message ?? (error instanceof Error ? error.message : String(error))
  return new OperatorError(
    `${name === undefined ? 'A migration' : `The migration ${name}`} failed and was rolled back: ${text.split('\n').slice(0, 2).join(': ')}`,
    'Fix the cause and run migrate again.',
  )
}

async function apply(
  { engine }: SchemaEngine,
  owner: pg.Client,
  migrations: readonly Migration[],
): Promise<string[]> {
  const migrationsList = migrationList(migrations)
  const { failedMigrationNames } = await engine.diagnoseMigrationHistory({
    migrationsList,
    optInToShadowDatabase: false,
    filters: noFilters,
  })
  if (failedMigrationNames.length > 0) await dropInvalidIndexes(owner)
  for (const migrationName of failedMigrationNames) {
    await engine.markMigrationRolledBack({ migrationName })
  }
  const result = await engine.applyMigrations({ migrationsList, filters: noFilters })
  return result.appliedMigrationNames
}

async function dropInvalidIndexes(owner: pg.Client): Promise<void> {
  const { rows } = await owner.query<{ name: string }>(
    `SELECT indexrelid::regclass::text AS name FROM pg_index JOIN pg_class ON oid = indexrelid
     WHERE NOT indisvalid AND relkind = 'i' AND relnamespace = 'public'::regnamespace`,
  )
  for (const { name } of rows) {
    await untilLocked(() => owner.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`))
  }
}
