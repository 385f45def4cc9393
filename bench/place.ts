import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import { createOwnerAndDatabase } from '#dev/demo/demo.ts'
import { removePostgres, startPostgres } from '#dev/demo/postgres/start.ts'
import { migrate } from '#src/schema/migrate.ts'

/** The database of a run: migrated, empty, with default durability. */
export type Place = {
  /** URL of the application role. */
  url: string
  superuserUrl: string
  /** Creates another database on the same server, for a contender with its own tables. */
  createDatabase(name: string, statements: readonly string[]): Promise<Place['superuserUrl']>
  /** Creates a migrated database for another app. @param folder of the app */
  createApp(name: string, folder: string): Promise<Pick<Place, 'url' | 'superuserUrl'>>
}

const run = promisify(execFile)
const database = 'gatehouse'
const owner = { name: 'gatehouse_owner', password: 'owner' }
const app = { name: 'gatehouse_app', password: 'app' }

/** Runs `work` on a temporary PostgreSQL. */
export async function withPlace(work: (place: Place) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-bench-'))
  await chmod(folder, 0o711) // for the account of the PostgreSQL server if this runs as root
  const dataDir = join(folder, 'postgres')
  const settings = { max_connections: '200', max_wal_size: '8GB' }
  const postgres = await startPostgres({ dataDir, settings })
  try {
    await createOwnerAndDatabase(postgres.url('postgres'), owner)
    const url = postgres.url(database, app)
    await migrate({ ownerUrl: postgres.url(database, owner), url, workerUrl: url })
    await work({
      url,
      superuserUrl: postgres.url(database),
      async createDatabase(name, statements) {
        await onDatabase(postgres.url('postgres'), [`CREATE DATABASE ${pg.escapeIdentifier(name)}`])
        await onDatabase(postgres.url(name), statements)
        return postgres.url(name)
      },
      async createApp(name, folder) {
        await createOwnerAndDatabase(postgres.url('postgres'), owner, name)
        const url = postgres.url(name, app)
        const urls = { DATABASE_OWNER_URL: postgres.url(name, owner), DATABASE_URL: url }
        const env = { PATH: process.env.PATH ?? '', ...urls }
        const command = fileURLToPath(new URL('../dev/cli.ts', import.meta.url))
        await run(process.execPath, [command, 'migrate', '--app', folder], { env })
        return { url, superuserUrl: postgres.url(name) }
      },
    })
  } finally {
    await postgres.stop()
    await removePostgres(dataDir)
    await rm(folder, { recursive: true, force: true })
  }
}

export async function onDatabase(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}
