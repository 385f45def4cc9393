import { mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import pg from 'pg'
import { createOwnerAndDatabase } from '#dev/demo/demo.ts'
import { findBinaries } from '#dev/demo/postgres/data-directory.ts'
import { removePostgres, startPostgres } from '#dev/demo/postgres/start.ts'
import { startTemporaryPostgres } from '#dev/demo/postgres/temporary.ts'
import { sha256 } from '#src/crypto/hash.ts'
import { version } from '#src/runtime/assets.ts'
import { readDefinitions } from '#src/schema/definitions.ts'
import { migrate, type ReleaseFiles } from '#src/schema/migrate.ts'
import { readMigrations } from '#src/schema/migrations/applied.ts'
import { forgetful } from './forgetful.ts'
import { logins, urlsOf } from './logins.ts'

const cacheFolder = 'node_modules/.cache/gatehouse'
const weekMs = 7 * 86_400_000
const databaseName = 'gatehouse'

/**
 * An empty database of the app, on a server of its own in a temporary folder: a copy of one that an earlier run has
 * migrated, if the migrations and what follows from the declarations are the same. `migrate` looks at the copy too.
 */
export async function startTestDatabase(closing: (() => Promise<unknown>)[]) {
  const postgres = await startTemporaryPostgres(forgetful, await keepDatabase())
  closing.push(() => postgres.stop())
  const urls = await prepare(postgres.url('postgres'))
  const admin = new pg.Pool({ connectionString: urls.superuserUrl, max: 2 })
  admin.on('error', () => {}) // its connections close a moment after `end`, when the server stops
  closing.push(() => admin.end())
  return { ...urls, admin }
}

async function prepare(clusterUrl: string, files?: ReleaseFiles) {
  await createOwnerAndDatabase(clusterUrl, logins.owner)
  const urls = urlsOf(clusterUrl, databaseName)
  await migrate(urls, files)
  return urls
}

/**
 * The data directory of a stopped server with a migrated database; makes it in a first run. Several runs may do so at
 * the same time, and the first that is ready is kept.
 * @param files of this program and its app by default
 * @returns undefined if the folder cannot be made
 */
export async function keepDatabase(
  folder = cacheFolder,
  files?: Required<ReleaseFiles>,
): Promise<string | undefined> {
  const { migrations = await readMigrations(), definitions = await readDefinitions() } = files ?? {}
  const cache = resolve(folder)
  const kept = join(cache, `postgres-${await keyOf({ migrations, definitions })}`)
  const now = new Date()
  if (await wasUsed(kept, now)) return kept
  try {
    await mkdir(cache, { recursive: true })
  } catch {
    return undefined
  }
  await removeUnused(cache, now)
  const made = await mkdtemp(join(cache, 'new-'))
  const dataDir = join(made, 'postgres')
  // With fsync, as the files are kept.
  const postgres = await startPostgres({ dataDir, settings: { ...forgetful, fsync: 'on' } })
  await prepare(postgres.url('postgres'), { migrations, definitions }).finally(() =>
    postgres.stop(),
  )
  // As root it is a link, which would replace another one.
  if (await wasUsed(kept, now)) await removePostgres(dataDir)
  else await rename(dataDir, kept).catch(() => removePostgres(dataDir))
  await rm(made, { recursive: true, force: true })
  return kept
}

/** Everything that decides what `migrate` makes, and what PostgreSQL can read. */
async function keyOf({ migrations, definitions }: Required<ReleaseFiles>): Promise<string> {
  const { version: postgres } = await findBinaries()
  const all = [version, postgres, process.arch, logins, migrations, definitions.digests]
  return sha256(JSON.stringify(all)).toString('hex').slice(0, 32)
}

/** Whether the folder exists; notes that it was used. */
async function wasUsed(folder: string, now: Date): Promise<boolean> {
  return utimes(folder, now, now).then(
    () => true,
    () => false,
  )
}

/** Removes what no run has used for a week, and links to what is gone. */
async function removeUnused(cache: string, now: Date): Promise<void> {
  for (const name of await readdir(cache)) {
    const path = join(cache, name)
    const found = await stat(path).catch(() => null)
    if (found !== null && now.getTime() - found.mtimeMs < weekMs) continue
    await removePostgres(name.startsWith('new-') ? join(path, 'postgres') : path)
    await rm(path, { recursive: true, force: true })
  }
}
