import pg from 'pg'
import { readMigrations } from './migration-files.ts'
import { poolOptions } from './pool-options.ts'
import { findRoleFlaws } from './role-proof.ts'
import { findTableFlaws } from './table-proof.ts'

/** One thing that is wrong with the database, and what mends it. */
export type Flaw = { problem: string; remedy: string }

/**
 * Proves that the role at `url` cannot get around row-level security, that every table outside the
 * named lists is under it, and that the schema is the one this program was built for.
 * @returns every flaw found; none means `serve` may listen
 * @throws the connection error when the database cannot be reached
 */
export async function proveDatabase(url: string): Promise<Flaw[]> {
  const client = new pg.Client(poolOptions(url, 1))
  client.on('error', () => {})
  await client.connect()
  try {
    const behind = await findMissingMigrations(client)
    if (behind !== null) return [behind]
    return [...(await findRoleFlaws(client)), ...(await findTableFlaws(client))]
  } finally {
    await client.end()
  }
}

async function findMissingMigrations(client: pg.Client): Promise<Flaw | null> {
  const remedy = 'Run `gatehouse migrate` with DATABASE_OWNER_URL.'
  const { rows: tables } = await client.query<{ readable: boolean | null }>(
    `SELECT has_table_privilege(to_regclass('_prisma_migrations'), 'SELECT') AS readable`,
  )
  if (tables[0]?.readable !== true) {
    return { problem: 'The database has no schema for this role yet.', remedy }
  }
  const { rows } = await client.query<{ migration_name: string }>(
    'SELECT migration_name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
  )
  const applied = new Set(rows.map((row) => row.migration_name))
  const missing = (await readMigrations()).filter(({ name }) => !applied.has(name))
  if (missing.length === 0) return null
  const names = missing.map(({ name }) => name).join(', ')
  return { problem: `The database is behind by ${missing.length} migration(s): ${names}.`, remedy }
}
