import type pg from 'pg'
import { listAssets, readTextAsset } from '#src/runtime/assets.ts'

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

/** Whether the unknown migrations are those from before the first release. */
export function isUnreleased(ahead: readonly string[]): boolean {
  return ahead.includes('20261121000000_foundation')
}
