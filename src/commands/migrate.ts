import { ConfigError } from '#src/config/config.ts'
import { type Environment, readDatabaseUrl } from '#src/config/parse.ts'
import { migrate } from '#src/schema/migrate.ts'
import { print, printJson, withDatabaseOwner } from './command.ts'

type Options = { readonly json: boolean }

/** `gatehouse migrate`: the schema, the queue's schema, the roles and their rights. */
export default async function migrateCommand(env: Environment, { json }: Options): Promise<void> {
  await withDatabaseOwner(env, async (whole) => {
    const { applied, createdRoles, ahead } = await migrate(readDatabaseUrls(whole))
    if (json) return printJson({ applied, createdRoles, ahead })
    for (const name of applied) print(`applied ${name}`)
    for (const name of createdRoles) print(`created role ${name}`)
    if (ahead.length > 0) {
      print(`A newer release has applied ${ahead.join(', ')}; nothing was changed.`)
    } else if (applied.length === 0) print('The database is up to date.')
  })
}

export type DatabaseUrls = { ownerUrl: string; url: string; workerUrl: string }

/**
 * The connections that `migrate` and `seed` need; they need no other setting.
 * @throws ConfigError naming each that is missing
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
