import type { Environment } from '#src/config/parse.ts'
import { queueSchema } from '#src/queue/queue.ts'
import { version as release } from '#src/runtime/assets.ts'
import { readCoreMigrations } from '#src/schema/migrations/applied.ts'
import { findSchemaVersion } from '#src/schema/record.ts'
import { openCommandDatabase, readWorkerUrl } from '../kit/databases.ts'
import { print, printJson } from '../kit/output.ts'

type Options = { readonly json?: true }

/**
 * `gatehouse version`: the release, the schema that it brings, and the release that last migrated the
 * database, if one is configured.
 */
export default async function versionCommand(env: Environment, { json }: Options): Promise<void> {
  const migration = (await readCoreMigrations()).at(-1)?.name
  const own = { release, node: process.version, schema: { migration, queue: queueSchema } }
  if (!json) {
    print(`gatehouse ${release} (Node ${process.version})`)
    print(
      `brings the schema of the migration ${migration}, and version ${queueSchema} of the queue`,
    )
  }
  const database = await findDatabaseRelease(env)
  if (json) return printJson({ ...own, database })
  if (database !== null) print(`the database is of release ${database}`)
}

async function findDatabaseRelease(env: Environment): Promise<string | null> {
  if (!env.DATABASE_WORKER_URL && !env.DATABASE_URL) return null
  const systemDb = openCommandDatabase(readWorkerUrl(env))
  return findSchemaVersion(systemDb).finally(() => systemDb.close())
}
