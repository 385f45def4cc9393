import type pg from 'pg'
import { listAssets, readTextAsset } from '#src/runtime/assets.ts'
import type { Finding } from '../finding.ts'

/**
 * Compares the database with this program's migrations.
 * @returns `ahead`: applied by a newer release; `behind`: not applied yet
 */
export async function compareHistory(
  client: pg.Client,
  known: readonly Migration[],
): Promise<{ ahead: string[]; behind: string[] }> {
  const { rows: tables } = await client.query<{ exists: boolean }>(
    `SELECT to_regclass('_prisma_migrations') IS NOT NULL AS exists`,
  )
  const { rows } = tables[0]?.exists
    ? await client.query<{ name: string }>(
        `SELECT migration_name AS name FROM _prisma_migrations
         WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL ORDER BY 1`,
      )
    : { rows: [] }
  const applied = rows.map(({ name }) => name)
  const names = known.map(({ name }) => name)
  return {
    ahead: applied.filter((name) => !names.includes(name)),
    behind: names.filter((name) => !applied.includes(name)),
  }
}

export type Migration = { name: string; sql: string }

export const migrationsFolder = 'prisma/migrations'

/** The migrations of this program, oldest first. */
export async function readMigrations(): Promise<Migration[]> {
  const paths = await listAssets(migrationsFolder)
  return Promise.all(
    paths
      .filter((path) => path.endsWith('/migration.sql'))
      .map(async (path) => ({
        name: path.slice(migrationsFolder.length + 1, -'/migration.sql'.length),
        sql: await readTextAsset(path),
      })),
  )
}

type History = Awaited<ReturnType<typeof compareHistory>>

/**
 * A database that no `migrate` brings to these files, because each has migrations that the other lacks:
 * from before the first release, or after a migration that was applied has been deleted
 * (`npm run new -- --remove`). Null if it follows them or is ahead.
 */
export function describeParted({ ahead, behind }: History): Finding | null {
  if (ahead.length === 0 || behind.length === 0) return null
  if (ahead.includes('20261121000000_foundation')) {
    return {
      problem: 'The database is of an unreleased version of Gatehouse, which cannot be upgraded.',
      remedy: 'Use an empty database; for the demo, delete the folder .data.',
    }
  }
  return {
    problem: `The database has migrations that this release does not know (${ahead.join(', ')}), and lacks migrations of this release (${behind.join(', ')}).`,
    remedy:
      'Use an empty database (for the demo, delete the folder .data), or bring the deleted migrations back into prisma/migrations and write the change as a migration that follows them.',
  }
}
