import { ConfigError } from '#src/config/config.ts'
import { type Environment, readDatabaseUrl } from '#src/config/parse.ts'
import { migrate } from '#src/schema/migrate.ts'
import { withDatabaseOwner } from '../kit/environment.ts'
import { print, printJson } from '../kit/output.ts'

type Options = { readonly json?: true; readonly distribute?: true }

/**
 * `gatehouse migrate`: the schema, the queue's schema, functions, policies, triggers, the roles and their
 * privileges.
 */
export default async function migrateCommand(env: Environment, options: Options): Promise<void> {
  const { json } = options
  await withDatabaseOwner(env, async (whole) => {
    const urls = readDatabaseUrls(whole)
    const report = await migrate(urls, undefined, {
      distribute: options.distribute === true,
      ...(!json && { progress: print }),
    })
    if (json) return printJson(report)
    const { applied, defined, createdRoles, ahead } = report
    for (const name of applied) print(`applied ${name}`)
    if (defined) print('replaced functions, policies, triggers and privileges')
    for (const name of createdRoles) print(`created role ${name}`)
    if (ahead.length > 0) {
      print(
        `A newer release has applied ${ahead.join(', ')}. Nothing was changed: this database is migrated and repaired by \`gatehouse migrate\` of that release.`,
      )
    } else if (applied.length === 0 && !defined) print('The database is up to date.')
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
  const readRoleUrl = (name: string) => {
    const url = read(name)
    if (faults.length === 0 && URL.parse(url)?.username === '') {
      faults.push(`${name}: names no user, the role that gets its privileges.`)
    }
    return url
  }
  const ownerUrl = read('DATABASE_OWNER_URL')
  const url = readRoleUrl('DATABASE_URL')
  const workerUrl = env.DATABASE_WORKER_URL ? readRoleUrl('DATABASE_WORKER_URL') : url
  if (faults.length > 0) throw new ConfigError(faults)
  return { ownerUrl, url, workerUrl }
}
