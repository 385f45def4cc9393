import { ConfigError } from '#src/config/config.ts'
import { type Environment, readDatabaseUrl } from '#src/config/parse.ts'
import { migrate } from '#src/schema/migrate.ts'
import { withDatabaseOwner } from './environment.ts'
import { print, printJson } from './output.ts'

type Options = { readonly json?: true }

/** `gatehouse migrate`: the schema, the queue's schema, the roles and their privileges. */
export default async function migrateCommand(env: Environment, { json }: Options): Promise<void> {
  await withDatabaseOwner(env, async (whole) => {
    const { applied, createdRoles, ahead } = await migrate(readDatabaseUrls(whole))
    if (json) return printJson({ applied, createdRoles, ahead })
    for (const name of applied) print(`applied ${name}`)
    for (const name of createdRoles) print(`created role ${name}`)
    if (ahead.length > 0) {
      print(`A newer release has applied ${ahead.join(', ')}. Nothing was changed.`)
    } else if (applied.length === 0) print('The database is up to date.')
  })
}

export type DatabaseUrls = { ownerUrl: string; url: string; workerUrl: string }

/**
 * The only settings that `migrate` and `seed` need.
 * @throws ConfigError naming each missing one
 */
export function readDatabaseUrls(env: Environment): DatabaseUrls {
  const faults: string[] = []
  const read = (name: string) => readDatabaseUrl(name, env[name] || undefined, faults)
  const ownerUrl = read('DATABASE_OWNER_URL')
  const url = read('DATABASE_URL')
  const workerUrl = env.DATABASE_WORKER_URL ? read('DATABASE_WORKER_URL') : url
  if (faults.length > 0) throw new ConfigError(faults)
  return { ownerUrl, url, workerUrl }
}
