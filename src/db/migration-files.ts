import { listAssets, readTextAsset } from '#src/runtime/assets.ts'

export type Migration = { name: string; sql: string }

export const migrationsFolder = 'prisma/migrations'

/** The migrations this program was built with, oldest first. */
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
