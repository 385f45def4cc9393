import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

export type Migration = { name: string; sql: string }

export const migrationsFolder = fileURLToPath(new URL('../../prisma/migrations', import.meta.url))

/** The migrations this program was built with, oldest first. */
export async function readMigrations(): Promise<Migration[]> {
  const entries = await readdir(migrationsFolder, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  return Promise.all(
    names.sort().map(async (name) => ({
      name,
      sql: await readFile(`${migrationsFolder}/${name}/migration.sql`, 'utf8'),
    })),
  )
}
