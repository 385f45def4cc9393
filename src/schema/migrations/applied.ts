import type pg from 'pg'
import { bare } from '#src/resources/define-app.ts'
import { app, appFolder } from '#src/resources/running-app.ts'
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

/** The migrations of this program and then of its app, each oldest first. */
export async function readMigrations(): Promise<Migration[]> {
  const ofApp = appFolder === null ? [] : await readFolder(`${appFolder}/migrations`)
  return [
    ...(await readCoreMigrations()),
    ...ofApp.map(({ name, sql }) => ({ name: `${prefixOf(app.name)}${name}`, sql })),
  ]
}

/** The migrations of this program without those of its app. */
export async function readCoreMigrations(): Promise<Migration[]> {
  return readFolder(migrationsFolder)
}

async function readFolder(folder: string): Promise<Migration[]> {
  const paths = await listAssets(folder)
  return Promise.all(
    paths
      .filter((path) => path.endsWith('/migration.sql'))
      .map(async (path) => ({
        name: path.slice(folder.length + 1, -'/migration.sql'.length),
        sql: await readTextAsset(path),
      })),
  )
}

/** Begins the names of the migrations of an app in `_prisma_migrations`: two apps never share one. */
const prefixOf = (name: string) => `app:${name}:`

type History = Awaited<ReturnType<typeof compareHistory>>

/** The database of another app, or of an app where this program runs none; null if there is none. */
function describeForeign({ ahead }: History): Finding | null {
  const foreign = ahead.find(
    (name) => name.startsWith('app:') && !name.startsWith(prefixOf(app.name)),
  )
  if (foreign === undefined) return null
  const [, other = ''] = foreign.split(':')
  const own = app === bare ? 'runs none' : `runs the app ${app.name}`
  return {
    problem: `The database is of the app ${other}, and this program ${own}.`,
    remedy: `Start it with --app and the folder of ${other}, or use another database (for the demo, delete the folder .data).`,
  }
}

/**
 * A database that no `migrate` brings to these files: that of another app, or one that has migrations
 * which the program lacks and lacks others, for instance after an applied migration was deleted. Null
 * for any other database.
 */
export function describeParted({ ahead, behind }: History): Finding | null {
  const foreign = describeForeign({ ahead, behind })
  if (foreign !== null) return foreign
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
      'Use an empty database (for the demo, delete the folder .data), or bring the deleted migrations back into the folder of migrations and write the change as a migration that follows them.',
  }
}
